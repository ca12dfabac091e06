import { readFileSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { tierOf } from '../../src/policy/tiers.ts';
import { subject, visibleOf } from '../../src/policy/approvals/subject.ts';
import { said, untilListed } from '../support/asking.ts';
import { openLine } from '../support/cell.ts';
import { eventually } from '../support/eventually.ts';
import { checkLeaks } from '../support/leak-check.ts';

checkLeaks();

const CELL = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' } as const;

describe('holes that others have', () => {
  test('a tool without annotations is not taken for one that reads', () => {
    expect(tierOf({ name: 'frobnicate' })).not.toBe('read');
    expect(tierOf({ name: 'delete_all' })).toBe('destructive');
  });

  test.each(['direct', 'search', 'code'])(
    'a model finds no tool that adds servers, approves or changes the configuration: %s',
    async (exposure) => {
      await using line = await openLine(CELL, { one: ['plain'] }, { args: ['--expose', exposure] });
      if (exposure === 'direct') await untilListed(line.client, 'one__echo');
      const own = (await line.client.listTools())
        .map(({ name }) => name)
        .filter((name) => !name.startsWith('one__'));
      const known = [
        ...['search_tools', 'describe_tools', 'call_read_tool', 'call_write_tool', 'call_destructive_tool'],
        ...['read_result', 'run_code', 'call_tool'],
      ];
      expect(own.filter((name) => !known.includes(name))).toEqual([]);
    },
  );

  test.each([
    ['annotations', { annotations: { readOnlyHint: false } }],
    ['a description of a parameter', { inputSchema: { properties: { a: { description: 'More.' } } } }],
    ['the output schema', { outputSchema: { type: 'object' } }],
    ['the title', { title: 'Another' }],
    ['a key that nobody has heard of', { more: 'text' }],
  ])('an approval is of %s as well', (_, change) => {
    const definition = {
      name: 'a',
      description: 'A.',
      annotations: { readOnlyHint: true },
      inputSchema: { properties: { a: {} } },
    };
    const of = (value: typeof definition) => subject('tool', 'a', visibleOf(value)).fingerprint;
    expect(of({ ...definition, ...change })).not.toBe(of(definition));
    expect(of({ ...definition })).toBe(of(definition));
  });

  test('one server without its folder stops nobody else', async () => {
    const entries = { lost: { cwd: './no-such-folder' } };
    await using line = await openLine(CELL, { lost: ['plain'], good: ['plain'] }, { entries });
    await untilListed(line.client, 'good__echo');
    expect(said(await line.client.callTool('good__echo', { text: 'a' }))).toBe('a');
  });

  test('no tool of a server that shrank from thousands is found any more', { timeout: 60_000 }, async () => {
    const searching = { args: ['--expose', 'search'] };
    const servers = (count: number) => ({ one: ['many-tools', '--count', String(count)] }) as const;
    const found = async (line: Awaited<ReturnType<typeof openLine>>): Promise<string> =>
      said(await line.client.callTool('search_tools', { query: 'tool 1999 2999', limit: 50 }));
    const first = await openLine(CELL, servers(3000), searching);
    await eventually(async () => expect(await found(first)).toMatch(/one__\S*[12]999/));
    // While it runs, and after the next start.
    const { configFile } = first.gateway;
    writeFileSync(configFile, readFileSync(configFile, 'utf8').replace('"3000"', '"5"'));
    await eventually(async () => expect(await found(first)).not.toMatch(/one__\S*[12]999/), {
      what: 'The end of the tools',
      withinMs: 20_000,
    });
    await first[Symbol.asyncDispose]();
    await using second = await openLine(CELL, servers(5), { ...searching, home: first.gateway.home });
    await eventually(async () => expect(await found(second)).not.toMatch(/one__\S*[12]999/));
  });
});
