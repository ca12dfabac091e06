import { expect } from 'vitest';

import { estimateTokens } from '../../../src/exposure/estimate-tokens.ts';
import { gatewayErrorCode, textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

const searching = { args: ['--expose', 'search'], config: { startup: { listWait: '60s' } } };
const MAX_TOKENS = 10_000;

async function found(client: RawClient, query: string, more: JsonObject = {}): Promise<string> {
  return textOfResult(await client.callTool('search_tools', { query, ...more }));
}

scenario(
  'search exposure: finds, describes and calls tools with extreme definitions in few tokens',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['hostile-tools'] }, searching);
    const { client } = line;
    const names = ['bare', 'long', 'wide', 'circle', 'tree', 'wordy', 'liar', 'heavy'].map(
      (name) => `one__${name}`,
    );
    const answer = await found(client, 'widget', { limit: 50 });
    expect(estimateTokens(answer)).toBeLessThan(1_500);
    const heads = answer.split('\n').filter((text) => !text.startsWith('  '));
    expect(heads.every((text) => /^one__\w+\(.*\) \[\w+\]$/.test(text))).toBe(true);
    expect(heads.some((text) => text.startsWith('one__secret'))).toBe(false);
    expect(await found(client, 'one__bare')).toMatch(/^one__bare\(\) \[write\]$/m);

    const described = await client.callTool('describe_tools', { names });
    expect(estimateTokens(textOfResult(described))).toBeLessThan(MAX_TOKENS);
    const kept = described._meta?.['trunkline/result'] as { id: string } | undefined;
    const circle = await client.callTool('read_result', { id: kept?.id, find: '"one__circle"', limit: 1 });
    expect(textOfResult(circle)).toContain('A widget in circles.');

    const fitting: Readonly<Record<string, JsonObject>> = {
      one__wide: { parameter_7: 'x' },
      one__tree: { node: { text: 'x', next: { text: 'y' } } },
    };
    for (const name of names) {
      const args = { name, arguments: fitting[name] ?? { a: 'x' } };
      const called = await client.callTool('call_destructive_tool', args);
      expect(textOfResult(called)).toMatch(/ got \d+ characters$/);
    }
    const refused = await client.callTool('call_destructive_tool', {
      name: 'one__heavy',
      arguments: { a: 5 },
    });
    expect(gatewayErrorCode(refused)).toBe('ARGUMENTS_INVALID');
    expect(textOfResult(refused)).toMatch(/^The arguments do not fit one__heavy and were not sent: .*\ba\b/);
    expect(estimateTokens(textOfResult(refused))).toBeLessThan(MAX_TOKENS);
  },
);

scenario(
  'search exposure: answers any query briefly and rejects malformed search arguments',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'], two: ['many-tools', '--count', '300'] }, searching);
    const { client } = line;
    for (const query of [
      'x'.repeat(1e5),
      'add two numbers '.repeat(6250),
      '🚀'.repeat(5e4),
      'a b '.repeat(25e3),
      '',
      '   ',
      '\0',
      'the of and a',
      'this is it',
      '查询当前天气',
      '把两个数字加起来',
      'сложить два числа',
      'прочитать файл',
      'جمع رقمين',
      'שלום',
      '.*+?^${}()|[]\\',
      '(a+)+$',
      '[',
      '/regex/i',
      '\\',
      '%s %n',
      '"; DROP TABLE tools; --',
      '__proto__',
    ]) {
      const answer = await found(client, query);
      expect(answer).not.toBe('');
      expect(estimateTokens(answer)).toBeLessThan(1_500);
    }
    expect(await found(client, '')).toMatch(/^No tool matches an empty query\./);
    expect(await found(client, 'add two numbers '.repeat(100))).toContain('one__add(');
    for (const args of [
      {},
      { query: null },
      { query: ['x'] },
      { query: 'x', limit: {} },
      { query: 'x', server: 'three' },
    ]) {
      expect(gatewayErrorCode(await client.callTool('search_tools', args))).toBe('ARGUMENTS_INVALID');
    }
  },
);

scenario(
  'search exposure: searches and calls 5,000 tools of one server',
  { slow: true, upstream: ['stdio/legacy', 'http/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['many-tools', '--count', '5000'] }, searching);
    const { client } = line;
    expect(await client.listTools()).toHaveLength(6);
    expect(await found(client, 'one__tool-4321')).toMatch(/^one__tool-4321\(/);
    expect((await found(client, 'number of many', { limit: 50 })).match(/^one__/gm)).toHaveLength(50);
    const call = { name: 'one__tool-4999', arguments: { text: 'x' } };
    expect(textOfResult(await client.callTool('call_destructive_tool', call))).toBe('4999: x');
  },
);

scenario(
  'search exposure: accepts arguments that are encoded as JSON once or twice',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, searching);
    const { client } = line;
    const args = { a: 2, b: 3 };
    const once = JSON.stringify(args);
    for (const encoded of [args, once, JSON.stringify(once), ` ${once}\n`]) {
      const sum = await client.callTool('call_read_tool', { name: 'one__add', arguments: encoded });
      expect(textOfResult(sum)).toBe('5');
    }
    for (const wrong of [JSON.stringify(JSON.stringify(once)), '{"a":2', '[2,3]', '5', [2, 3], true]) {
      const refused = await client.callTool('call_read_tool', { name: 'one__add', arguments: wrong });
      expect(gatewayErrorCode(refused)).toBe('ARGUMENTS_INVALID');
    }
    const names = JSON.stringify(['one__add']);
    expect(textOfResult(await client.callTool('describe_tools', { names: 'one__add' }))).toContain(
      'Adds two numbers.',
    );
    expect(textOfResult(await client.callTool('describe_tools', { names }))).toContain('Adds two numbers.');
  },
);

scenario(
  'search exposure: reports a server that is down or still starting when a search concerns it',
  { downstream: everyLeg },
  async (cell) => {
    const config = { startup: { listWait: '200ms' } };
    const away = cell.upstream.startsWith('stdio')
      ? { command: '/nowhere/to-be-found' }
      : { url: 'http://127.0.0.1:9/mcp' };
    await using line = await cell.open(
      { one: ['plain'], github: ['plain'], 'late-one': ['never-answers'] },
      { ...searching, config, entries: { github: away } },
    );
    const { client } = line;
    const isTold = async (): Promise<boolean> =>
      /^one__echo\([^]*^Server "github" /m.test(await found(client, 'echo on GitHub'));
    await eventually(isTold, { what: 'The remark', withinMs: 10_000 });
    const answer = await found(client, 'echo on GitHub');
    expect(answer).toMatch(/^one__echo\(/);
    expect(answer).toMatch(
      /\nServer "github" (?:cannot be started or rejects the connection \(correct it with: trunkline edit github\)|is down \(restart it with: trunkline restart github\)); its tools are not known\.$/,
    );
    expect(answer).not.toContain('nowhere');
    expect(await found(client, 'echo')).not.toContain('Server "');
    expect(await found(client, 'anything', { server: 'github' })).toMatch(
      /^No known tool of "github" matches .*\nServer "github" .* not known\.$/,
    );
    expect(await found(client, 'xqzw')).toMatch(
      /\nServer "late-one" is still starting; its tools are not known\.$/m,
    );
  },
);
