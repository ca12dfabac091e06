import { expect } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

scenario('connect: starts one process for many concurrent first calls', async (cell) => {
  const entries = { one: { idle: '200ms' } };
  await using line = await cell.open({ one: ['slow-start', '--ms', '300'] }, { entries });
  const log = line.logs['one'];
  const texts = Array.from({ length: 30 }, (_, index) => `call ${index}`);
  const callAll = async (): Promise<readonly string[]> =>
    (await Promise.all(texts.map((text) => line.client.callTool('one__echo', { text })))).map(textOfResult);
  // Meanwhile the startup lists the server, too.
  expect(await callAll()).toEqual(texts);
  expect(log?.of('started')).toHaveLength(1);
  await log?.waitFor('ended');
  expect(await callAll()).toEqual(texts);
  expect(log?.of('started')).toHaveLength(2);
  expect(log?.of('initialize')).toHaveLength(2);
});
