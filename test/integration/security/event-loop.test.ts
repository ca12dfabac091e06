import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { type Attack, text, tool } from '../../support/event-loop-attacks/attack.ts';
import { CALLER_ATTACKS } from '../../support/event-loop-attacks/caller-attacks.ts';
import { SERVER_ATTACKS } from '../../support/event-loop-attacks/server-attacks.ts';
import { jsonFloorMs, measureEventLoopDelay } from '../../support/event-loop-delay.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

/**
 * The goal is that no message blocks the event loop for more than 50 ms, besides reading and writing its JSON; without their defences,
 * some of these attacks take many seconds. The bound leaves room for slower machines.
 */
const MAX_DELAY_MS = 300;

const SERVER = fileURLToPath(new URL('../../support/servers/scripted-answers.mjs', import.meta.url));
const ATTACKS = Object.entries({ ...SERVER_ATTACKS, ...CALLER_ATTACKS });

test.each(ATTACKS.filter(([, { isSlow = false }]) => !isSlow))(
  'event loop: keeps answering during an attack with %s',
  runAttack,
);

test.each(ATTACKS.filter(([, { isSlow = false }]) => isSlow))(
  'event loop: keeps answering during a longer attack with %s',
  { tags: ['slow'] },
  runAttack,
);

async function runAttack(title: string, attack: Attack): Promise<void> {
  const file = join(temporaryFolder('attack'), 'answers.json');
  const { args = {}, expose = 'direct' } = attack;
  await using gateway = await startGateway({
    mcpServers: {
      hostile: { command: process.execPath, args: [SERVER, `--file=${file}`], ...attack.server },
      ...attack.servers,
    },
    listen: 'http',
    args: ['--expose', expose],
    config: { startup: { listWait: '60s' }, ...attack.config },
  });
  await using delay = await measureEventLoopDelay(gateway);
  // The server answers nothing before its answers exist, so the whole attack is measured.
  writeFileSync(file, JSON.stringify(scriptOf(attack)));
  const client = await gateway.client(attack.client);
  const tools = await client.listTools();
  expect(tools.length).toBeGreaterThan(0);
  await attack.act?.({ client, gateway });
  const call = { name: 'hostile__tool', arguments: args };
  const calling =
    expose === 'direct' ? client.callTool(call.name, args) : client.callTool('call_read_tool', call);
  // Some calls are rejected; `verifyArrival` checks those that must not be.
  const called = await calling.catch((error: unknown) => error as Error);
  const toolNames = tools.map(({ name }) => name);
  await attack.verifyArrival?.({ client, gateway, toolNames, called });
  await client.close();
  const longestMs = await delay.longestMs();
  const floorMs = floorOf(attack);
  console.log(`${title}: ${longestMs.toFixed(0)} ms, its JSON alone ${floorMs.toFixed(0)} ms`);
  expect(longestMs).toBeLessThan(MAX_DELAY_MS + 2 * floorMs);
}

/** The time for reading and writing the JSON of the largest message. */
function floorOf({ args = {}, body, ...attack }: Attack): number {
  const { results, notifications = [], requests = [] } = scriptOf(attack);
  const messages = [args, ...Object.values(results), ...notifications.slice(0, 1), ...requests];
  const texts = [
    ...messages.map((message) => JSON.stringify(message)),
    ...(body === undefined ? [] : [body]),
  ];
  return Math.max(...texts.map(jsonFloorMs));
}

function scriptOf({ tools = [tool({})], results, notifications, requests }: Attack) {
  return {
    results: {
      initialize: { capabilities: { tools: { listChanged: true }, logging: {} } },
      'tools/list': { tools },
      'tools/call': text('done'),
      'resources/list': { resources: [] },
      'resources/templates/list': { resourceTemplates: [] },
      ...results,
    },
    notifications,
    requests,
  };
}
