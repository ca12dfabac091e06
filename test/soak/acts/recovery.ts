import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { said } from '../../support/asking.ts';
import { isRunning } from '../../support/processes.ts';
import type { ToolResult } from '../../support/raw-messages.ts';
import type { SoakClient } from '../clients/soak-client.ts';
import { outcomeOfError, outcomeOfResult } from '../clients/outcome.ts';
import type { Scene } from '../faults/fault.ts';

/** Pauses between attempts to reach a server grow; after a round of faults they are at most as long as this. */
const recoverWithinMs = 40_000;

/** When nothing is wrong any more, every server must serve again. */
export async function recovered({ stage, clients }: Scene): Promise<void> {
  // Whoever else uses this machine may have ended it; that would be no mistake of the gateway.
  if (!isRunning(stage.guarded.pid)) throw new Error('The server that wants a sign-in has ended by itself.');
  const of = (name: string): SoakClient | undefined => clients.find(({ kind }) => kind.name === name);
  const shared = of('http-modern');
  const alone = of('alone');
  const names = ['steady', ...Object.keys(stage.moody), 'guest', 'guarded'];
  await Promise.all([
    ...names.flatMap((name) => (shared === undefined ? [] : [serves(shared, name)])),
    ...Object.keys(stage.alone).flatMap((name) => (alone === undefined ? [] : [serves(alone, name)])),
  ]);
}

async function serves(client: SoakClient, server: string): Promise<void> {
  const deadline = performance.now() + recoverWithinMs;
  for (;;) {
    const outcome = await tryCall(client, server);
    if (outcome === 'ok') return;
    if (performance.now() > deadline) {
      client.ledger.violate(`${server} did not come back within ${recoverWithinMs} ms: ${outcome}`);
      return;
    }
    await sleep(200);
  }
}

/** Besides the ledger's count, since how often it takes is nobody's load. */
async function tryCall(client: SoakClient, server: string): Promise<string> {
  // Of its own each time, since some are done and never answered.
  const tag = `back-${randomUUID()}`;
  const args = server === 'guarded' ? { text: tag } : { tag };
  const name = `${server}__${server === 'guarded' ? 'echo' : 'do'}`;
  try {
    const result: ToolResult = await client.raw.callTool(name, args, { withinMs: recoverWithinMs });
    const outcome = outcomeOfResult(result);
    return outcome === 'ok' && said(result) === tag ? 'ok' : `${outcome} ${said(result).slice(0, 200)}`;
  } catch (error) {
    return `${outcomeOfError(error)} ${String(error)}`;
  }
}
