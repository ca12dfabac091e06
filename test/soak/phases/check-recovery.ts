import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { textOfResult } from '../../support/client-helpers.ts';
import { isRunning } from '../../support/processes.ts';
import type { ToolResult } from '../../support/raw-messages.ts';
import type { SoakClient } from '../clients/soak-client.ts';
import { outcomeOfError, outcomeOfResult } from '../clients/outcome.ts';
import type { FaultTargets } from '../faults/fault.ts';
import { count } from '../request-tracker.ts';
import type { SoakEnvironment } from '../environment/soak-environment.ts';

/** Longer than the longest retry pause after a round of faults. */
const usualWithinMs = 40_000;

/** Checks that every server works again after the faults. */
export async function checkRecovery(
  { environment, clients }: FaultTargets,
  withinMs = usualWithinMs,
): Promise<void> {
  // Something else on this machine may have killed it, which is not a fault of the gateway.
  if (!isRunning(environment.guarded.pid))
    throw new Error(
      `The server that requires a sign-in has exited by itself: ${environment.guarded.describeExit()}`,
    );
  const of = (name: string): SoakClient | undefined => clients.find(({ kind }) => kind.name === name);
  const shared = of('http-modern');
  const alone = of('alone');
  const names = ['steady', ...Object.keys(environment.faultTargets), 'removable', 'guarded'];
  await Promise.all([
    ...names.flatMap((name) =>
      shared === undefined ? [] : [serves(shared, name, { environment, withinMs })],
    ),
    ...Object.keys(environment.alone).flatMap((name) =>
      alone === undefined ? [] : [serves(alone, name, { environment, withinMs })],
    ),
  ]);
}

async function serves(
  client: SoakClient,
  server: string,
  { environment, withinMs }: { readonly environment: SoakEnvironment; readonly withinMs: number },
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const outcome = await tryCall(client, server, withinMs);
    if (outcome === 'ok') return;
    if (server === 'guarded' && outcome.startsWith('UPSTREAM_NEEDS_AUTH') && environment.hasLostGrant()) {
      count(client.tracker.outcomes, 'sign-in lost with a killed gateway');
      await environment.signIn();
    }
    if (performance.now() > deadline) {
      const grants = server === 'guarded' ? ` ${environment.grants()}` : '';
      client.tracker.violate(`${server} did not recover within ${withinMs} ms: ${outcome}${grants}`);
      return;
    }
    await sleep(200);
  }
}

/** Makes a call that the tracker does not count, because the number of attempts is not part of the load. */
async function tryCall(client: SoakClient, server: string, withinMs: number): Promise<string> {
  // A new tag for each attempt, because a call may be executed without being answered.
  const tag = `back-${randomUUID()}`;
  const args = server === 'guarded' ? { text: tag } : { tag };
  const name = `${server}__${server === 'guarded' ? 'echo' : 'do'}`;
  try {
    const result: ToolResult = await client.raw.callTool(name, args, { withinMs });
    const outcome = outcomeOfResult(result);
    return outcome === 'ok' && textOfResult(result) === tag
      ? 'ok'
      : `${outcome} ${textOfResult(result).slice(0, 200)}`;
  } catch (error) {
    return `${outcomeOfError(error)} ${String(error)}`;
  }
}
