import { setMaxListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { everyLeg, overHttp, scenario } from '../../support/scenario.ts';

checkLeaks();

/** The shutdown must not wait for calls that are never answered. */
const quick = { shutdown: '50ms' };

scenario('isolation: a hanging server delays only its own calls', { downstream: everyLeg }, async (cell) => {
  await using line = await cell.open(
    { calls: ['hangs-in-calls'], handshake: ['never-answers'], good: ['plain'] },
    { config: { ...quick, startup: { listWait: '200ms' } } },
  );
  const { client } = line;
  const stuck = pending();
  for (let index = 0; index < 20; index += 1) {
    for (const server of ['calls', 'handshake'])
      void stuck.add(client.callTool(`${server}__echo`, { text: 'x' }, { signal: stuck.signal, withinMs }));
  }
  await eventually(() => line.logs['calls']?.of('call').length === 20, { what: 'The calls that hang' });
  for (let index = 0; index < 30; index += 1)
    expect(textOfResult(await client.callTool('good__echo', { text: `${index}` }))).toBe(`${index}`);
  expect(await client.request('prompts/get', { name: 'good__bare' })).toBeDefined();
  expect((await client.listTools()).map(({ name }) => name)).toContain('good__echo');
  expect(stuck.settled()).toBe(0);
  await stuck.abandon();
});

scenario('isolation: a slowly starting server delays only its own calls', async (cell) => {
  const file = join(temporaryFolder(), 'go');
  await using line = await cell.open(
    { slow: ['slow-start', '--until', file], good: ['plain'] },
    { config: { startup: { listWait: '200ms' } } },
  );
  const { client } = line;
  const late = pending();
  const calls = ['a', 'b', 'c'].map((text) => late.add(client.callTool('slow__echo', { text })));
  await line.logs['slow']?.waitFor('started');
  for (let index = 0; index < 30; index += 1)
    expect(textOfResult(await client.callTool('good__echo', { text: `${index}` }))).toBe(`${index}`);
  expect((await client.listTools()).map(({ name }) => name)).toContain('good__echo');
  expect(late.settled()).toBe(0);
  writeFileSync(file, '');
  expect((await Promise.all(calls)).map(textOfResult)).toEqual(['a', 'b', 'c']);
  expect(line.logs['slow']?.of('started')).toHaveLength(1);
});

scenario(
  'isolation: a client that saturates one server does not delay calls to other servers',
  { slow: true, downstream: overHttp },
  async (cell) => {
    const limits = { concurrency: 4, waiting: 1000 };
    await using line = await cell.open(
      { full: ['plain'], free: ['plain'] },
      { entries: { full: { limits } }, config: quick },
    );
    const greedy = line.client;
    const other = await line.another();
    const stuck = pending();
    for (let index = 0; index < 300; index += 1) {
      const args = { ms: 600_000, text: 'x' };
      void stuck.add(greedy.callTool('full__slow', args, { signal: stuck.signal, withinMs }));
    }
    const atServer = () => line.logs['full']?.of('call').length;
    await eventually(() => atServer() === 4, { what: 'As many calls as the server may have' });
    for (let index = 0; index < 30; index += 1)
      expect(textOfResult(await other.callTool('free__echo', { text: `${index}` }))).toBe(`${index}`);
    expect((await other.listTools()).map(({ name }) => name)).toContain('free__echo');
    expect(textOfResult(await greedy.callTool('free__echo', { text: 'mine' }))).toBe('mine');
    expect([atServer(), stuck.settled()]).toEqual([4, 0]);
    await stuck.abandon();
  },
);

const withinMs = 60_000;

/** Starts calls that wait, and returns a way to cancel them. */
function pending() {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const calls: Promise<unknown>[] = [];
  let settled = 0;
  return {
    signal: controller.signal,
    settled: () => settled,
    add<T>(call: Promise<T>): Promise<T> {
      const count = (): void => void (settled += 1);
      calls.push(call.then(count, count));
      return call;
    },
    async abandon(): Promise<void> {
      controller.abort();
      await Promise.all(calls);
    },
  };
}
