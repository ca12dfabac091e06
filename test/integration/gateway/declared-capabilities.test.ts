import { expect } from 'vitest';

import { waitForValue } from '../../support/eventually.ts';
import type { FixtureLog } from '../../support/fixture-log.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { everyLeg, overHttp, scenario } from '../../support/scenario.ts';

checkLeaks();

const legacy = ['stdio/legacy', 'http/legacy', 'sse/legacy'] as const;

/** Returns what the server was told in its last `initialize`. */
function told(log: FixtureLog): unknown {
  return log.of('initialize').at(-1)?.['capabilities'];
}

scenario(
  'declared capabilities: a server is told only what its client supports',
  { downstream: everyLeg, upstream: legacy },
  async (cell) => {
    await using weak = await cell.open({ one: ['plain'] }, { capabilities: {} });
    await weak.client.callTool('one__echo', { text: 'a' });
    expect(told(weak.logs['one']!)).toEqual({});
    await using strong = await cell.open(
      { one: ['plain'] },
      { capabilities: { elicitation: {}, roots: { listChanged: true } } },
    );
    await strong.client.callTool('one__echo', { text: 'a' });
    expect(told(strong.logs['one']!)).toEqual({ elicitation: { form: {} }, roots: {} });
  },
);

scenario(
  'declared capabilities: an unused server is told of a client that supports more',
  { downstream: overHttp, upstream: legacy },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, { capabilities: {} });
    const log = line.logs['one']!;
    await line.client.listTools();
    expect(told(log)).toEqual({});
    const strong = await line.another({ capabilities: { sampling: {} } });
    await strong.listTools();
    await waitForValue(() => log.of('initialize')[1], { what: 'A second initialize' });
    expect(told(log)).toEqual({ sampling: {} });
    await strong.callTool('one__echo', { text: 'a' });
    expect(log.of('initialize')).toHaveLength(2);
  },
);

scenario(
  'declared capabilities: a used server keeps its connection when a client supports more',
  { downstream: overHttp, upstream: legacy },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, { capabilities: {} });
    await line.client.callTool('one__echo', { text: 'a' });
    const strong = await line.another({ capabilities: { sampling: {} } });
    await strong.callTool('one__echo', { text: 'b' });
    expect(line.logs['one']!.of('initialize')).toHaveLength(1);
  },
);

scenario(
  'declared capabilities: a server of one session is told what the client of that session supports',
  { downstream: ['http/legacy'] },
  async (cell) => {
    const options = { capabilities: { sampling: {} }, entries: { one: { share: 'session' } } };
    await using line = await cell.open({ one: ['plain'] }, options);
    await line.client.callTool('one__echo', { text: 'a' });
    expect(told(line.logs['one']!)).toEqual({ sampling: {} });
    const weak = await line.another({ capabilities: {} });
    await weak.callTool('one__echo', { text: 'b' });
    expect(told(line.logs['one']!)).toEqual({});
  },
);
