import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

scenario('recovery: retries a server that failed to start until it works', { slow: true }, async (cell) => {
  const folder = temporaryFolder('recovery');
  const files = { called: join(folder, 'called'), listed: join(folder, 'listed') };
  await using line = await cell.open({
    called: ['dies-at-start', '--until', files.called],
    listed: ['dies-at-start', '--until', files.listed],
  });
  const { client } = line;
  const call = (): ReturnType<typeof client.callTool> => client.callTool('called__echo', { text: 'a' });
  expect(gatewayErrorCode(await call())).toBe('UPSTREAM_UNAVAILABLE');
  await line.logs['listed']!.waitFor('ended');
  for (const file of Object.values(files)) writeFileSync(file, '');
  // One server is called until it works; the other recovers without calls. The next retry may be several seconds away.
  await eventually(async () => expect(textOfResult(await call())).toBe('a'), { withinMs: 15_000 });
  await waitForTool(client, 'called__echo');
  await waitForTool(client, 'listed__echo', { withinMs: 15_000 });
  expect(textOfResult(await client.callTool('listed__echo', { text: 'b' }))).toBe('b');
});
