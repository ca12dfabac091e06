import { readFileSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { inferTier } from '../../../src/policy/tool-tiers.ts';
import { createSubject, toApprovedDefinition } from '../../../src/policy/approvals/approval-subject.ts';
import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { openTestSetup } from '../../support/cell.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const CELL = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' } as const;

describe('common gateway vulnerabilities', () => {
  test('tier: is not read for a tool without annotations', () => {
    expect(inferTier({ name: 'frobnicate' })).not.toBe('read');
    expect(inferTier({ name: 'delete_all' })).toBe('destructive');
  });

  test.each(['direct', 'search', 'code'])(
    '%s exposure: offers no tool that adds servers, approves entries or changes the config',
    async (exposure) => {
      await using line = await openTestSetup(CELL, { one: ['plain'] }, { args: ['--expose', exposure] });
      if (exposure === 'direct') await waitForTool(line.client, 'one__echo');
      const own = (await line.client.listTools())
        .map(({ name }) => name)
        .filter((name) => !name.startsWith('one__'));
      const known = [
        'search_tools',
        'describe_tools',
        'call_read_tool',
        'call_write_tool',
        'call_destructive_tool',
        'read_result',
        'run_code',
        'call_tool',
      ];
      expect(own.filter((name) => !known.includes(name))).toEqual([]);
    },
  );

  test.each([
    ['annotations', { annotations: { readOnlyHint: false } }],
    ['a description of a parameter', { inputSchema: { properties: { a: { description: 'More.' } } } }],
    ['the output schema', { outputSchema: { type: 'object' } }],
    ['the title', { title: 'Another' }],
    ['an unknown key', { more: 'text' }],
    ['_meta', { _meta: { 'anthropic/searchHint': 'Call this first.' } }],
  ])('approval fingerprint: covers %s', (_, change) => {
    const definition = {
      name: 'a',
      description: 'A.',
      annotations: { readOnlyHint: true },
      inputSchema: { properties: { a: {} } },
    };
    const of = (value: typeof definition) =>
      createSubject('tool', 'a', toApprovedDefinition(value)).fingerprint;
    expect(of({ ...definition, ...change })).not.toBe(of(definition));
    expect(of({ ...definition })).toBe(of(definition));
  });

  test('missing cwd: does not affect other servers', async () => {
    const entries = { lost: { cwd: './no-such-folder' } };
    await using line = await openTestSetup(CELL, { lost: ['plain'], good: ['plain'] }, { entries });
    await waitForTool(line.client, 'good__echo');
    expect(textOfResult(await line.client.callTool('good__echo', { text: 'a' }))).toBe('a');
  });

  test(
    'search index: drops tools that a server no longer has, also after a restart',
    { tags: ['slow'] },
    async () => {
      const searching = { args: ['--expose', 'search'] };
      const servers = (count: number) => ({ one: ['many-tools', '--count', String(count)] }) as const;
      const found = async (line: Awaited<ReturnType<typeof openTestSetup>>): Promise<string> =>
        textOfResult(await line.client.callTool('search_tools', { query: 'tool 1999 2999', limit: 50 }));
      const first = await openTestSetup(CELL, servers(3000), searching);
      await eventually(async () => expect(await found(first)).toMatch(/one__\S*[12]999/));
      // Checked while it runs and after the next start.
      const { configFile } = first.gateway;
      writeFileSync(configFile, readFileSync(configFile, 'utf8').replace('"3000"', '"5"'));
      await eventually(async () => expect(await found(first)).not.toMatch(/one__\S*[12]999/), {
        what: 'The end of the tools',
        withinMs: 20_000,
      });
      await first[Symbol.asyncDispose]();
      await using second = await openTestSetup(CELL, servers(5), { ...searching, home: first.gateway.home });
      await eventually(async () => expect(await found(second)).not.toMatch(/one__\S*[12]999/));
    },
  );
});
