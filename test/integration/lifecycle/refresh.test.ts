import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

scenario('listing: shows other servers while a slow one still starts', async (cell) => {
  const go = join(temporaryFolder('signal'), 'go');
  await using line = await cell.open(
    { first: ['slow-start', '--until', go], a: ['plain'], b: ['plain'], last: ['slow-start', '--until', go] },
    { config: { startup: { listWait: '200ms' } } },
  );
  await waitForTool(line.client, 'a__echo');
  await waitForTool(line.client, 'b__echo');
  for (const name of ['first', 'last']) {
    await line.logs[name]?.waitFor('started');
    expect(line.logs[name]?.of('initialize')).toEqual([]);
  }
  writeFileSync(go, '');
  await waitForTool(line.client, 'first__echo');
  const tools = await waitForTool(line.client, 'last__echo');
  expect(new Set(tools.map(({ name }) => name.split('__')[0]))).toEqual(new Set(['first', 'a', 'b', 'last']));
});

scenario('connect timeout: gives up and ends a server that never answers', async (cell) => {
  const entries = { silent: { timeouts: { connect: '400ms' } } };
  await using line = await cell.open({ silent: ['never-answers'], good: ['plain'] }, { entries });
  const { pid } = await line.logs['silent']!.waitFor('started');
  const result = await line.client.callTool('silent__echo', { text: 'a' });
  expect(gatewayErrorCode(result)).toBe('UPSTREAM_UNAVAILABLE');
  expect(textOfResult(result)).toContain('not ready within 0.4 s');
  // The abandoned process is ended.
  await eventually(() => !isRunning(pid));
  expect(textOfResult(await line.client.callTool('good__echo', { text: 'a' }))).toBe('a');
  const tools = await waitForTool(line.client, 'good__echo');
  expect(tools.filter(({ name }) => name.startsWith('silent__'))).toEqual([]);
});
