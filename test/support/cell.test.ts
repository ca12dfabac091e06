import { expect, test } from 'vitest';

import { openTestSetup } from './cell.ts';
import { fixtureCommand } from './fixture.ts';
import { checkLeaks } from './leak-check.ts';

checkLeaks();

// A fixture takes the place of the gateway, because only the builder is tested.
const program = fixtureCommand('plain', ['--era', 'both']);

test.each(['stdio/legacy', 'stdio/modern', 'http/legacy', 'http/modern'] as const)(
  'openTestSetup: opens and closes with a client over %s',
  async (downstream) => {
    await using line = await openTestSetup(
      { downstream, upstream: 'sse/legacy' },
      { one: ['plain'] },
      { program },
    );
    expect(await line.client.callTool('echo', { text: 'a' })).toMatchObject({ content: [{ text: 'a' }] });
    expect(line.client.era).toBe(downstream.split('/')[1]);
    expect(line.upstreams['one']?.entry).toMatchObject({ url: expect.stringContaining('/sse') });
    expect(line.logs['one']?.of('started')).toHaveLength(1);
  },
);

test('openTestSetup: fails on close when a server saw a protocol violation', async () => {
  const line = await openTestSetup(
    { downstream: 'stdio/legacy', upstream: 'http/legacy' },
    { one: ['plain'] },
    { program },
  );
  const url = String(line.upstreams['one']?.entry['url']);
  await fetch(url, { method: 'POST', body: '{}', headers: { connection: 'close' } }).then((response) =>
    response.text(),
  );
  await expect(line[Symbol.asyncDispose]()).rejects.toThrow('content-type');
});
