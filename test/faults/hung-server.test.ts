import { expect, test } from 'vitest';

import { ownCode, pidOf, said, untilListed } from '../support/asking.ts';
import { openLine } from '../support/cell.ts';
import { checkLeaks } from '../support/leak-check.ts';

checkLeaks();

const texts = Array.from({ length: 100 }, (_, index) => `call ${index}`);

test.each(['stdio/legacy', 'http/legacy'] as const)(
  'beside a hung, a stopped and a silent server the healthy one answers every call over %s',
  async (downstream) => {
    const cell = { downstream, upstream: 'stdio/legacy' } as const;
    const timeouts = { call: '2500ms', connect: '2500ms' };
    await using line = await openLine(
      cell,
      { hung: ['hangs-in-calls'], stopped: ['plain'], silent: ['never-answers'], good: ['plain'] },
      { entries: { hung: { timeouts }, stopped: { timeouts }, silent: { timeouts } } },
    );
    const { client } = line;
    for (const name of ['hung', 'stopped', 'good']) await untilListed(client, `${name}__echo`);
    const stopped = await pidOf(client, 'stopped');
    process.kill(stopped, 'SIGSTOP');
    let answered = 0;
    const stuck = ['hung', 'stopped', 'silent'].flatMap((name) =>
      // More than its pipe takes, and more calls than there are slots for one server.
      Array.from({ length: 80 }, async () => {
        const result = await client.callTool(`${name}__echo`, { text: 'x'.repeat(20_000) });
        answered += 1;
        return ownCode(result);
      }),
    );
    for (let at = 0; at < texts.length; at += 10) {
      const some = texts.slice(at, at + 10);
      const results = await Promise.all(some.map((text) => client.callTool('good__echo', { text })));
      expect(results.map(said)).toEqual(some);
    }
    const tools = await client.listTools();
    expect(new Set(tools.map(({ name }) => name.split('__')[0]))).toEqual(
      new Set(['hung', 'stopped', 'good']),
    );
    expect(answered, 'all of that while the others hung').toBe(0);
    const codes = await Promise.all(stuck);
    expect(new Set(codes.slice(0, 160))).toEqual(new Set(['CALL_TIMEOUT']));
    expect(new Set(codes.slice(160))).toEqual(new Set(['UPSTREAM_UNAVAILABLE']));
    expect(said(await client.callTool('good__echo', { text: 'after' }))).toBe('after');
    // One that was only stopped goes on where it was.
    process.kill(stopped, 'SIGCONT');
    expect(said(await client.callTool('stopped__echo', { text: 'awake' }))).toBe('awake');
    expect(await pidOf(client, 'stopped')).toBe(stopped);
  },
);

test('a server that is stopped when the gateway ends is ended all the same', async () => {
  const cell = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' } as const;
  const line = await openLine(cell, { one: ['plain'], two: ['plain'] });
  for (const name of ['one', 'two']) process.kill(await pidOf(line.client, name), 'SIGSTOP');
  await line[Symbol.asyncDispose]();
  expect(await line.gateway.exited).toEqual({ code: 0, signal: null });
});
