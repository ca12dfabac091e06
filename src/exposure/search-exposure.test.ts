import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { cpuStopwatch } from '../../test/support/cpu-time.ts';
import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { ReceivedMessage } from '../../test/support/memory-server.ts';
import type { Caller } from '../core/caller.ts';
import { Cancellation } from '../core/lib/cancellation.ts';
import { GatewayError } from '../core/errors.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { CatalogView } from '../gateway/catalog-view.ts';
import { listMetaTools } from './meta-tools.ts';
import { createSearchExposure } from './search-exposure.ts';
import type { SearchExposureOptions } from './search-exposure.ts';
import { estimateTokens } from './estimate-tokens.ts';

const caller: Caller = { id: 'local', via: 'stdio', profile: 'default' };
const text = { type: 'string' };
const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
});

const fileTools = [
  {
    name: 'read_file',
    description: 'Reads a file from the disk. More about it.',
    inputSchema: object({ path: text, encoding: { enum: ['utf8', 'base64'] } }, ['path']),
    outputSchema: object({ content: text }),
    annotations: { readOnlyHint: true },
  },
  { name: 'write_file', description: 'Writes a file.', inputSchema: object({ path: text, content: text }) },
  { name: 'delete_file', description: 'Deletes a file.', inputSchema: object({ path: text }, ['path']) },
  { name: 'undescribed' },
  {
    name: 'count',
    inputSchema: object({
      count: { type: 'integer' },
      isAll: { type: 'boolean' },
      names: { type: 'array', items: text },
      id: { type: 'integer' },
      path: text,
    }),
    annotations: { readOnlyHint: true },
  },
];
const mailTools = [
  { name: 'list_mails', description: 'Lists e-mails in the inbox.', inputSchema: object({ folder: text }) },
  { name: 'weather', description: '查询当前天气', inputSchema: object({ city: text }) },
];

/** The result of the server; every part of it must be passed on. */
const answer = {
  content: [
    { type: 'text', text: 'done' },
    { type: 'image', data: 'AAAA', mimeType: 'image/gif' },
  ],
  structuredContent: { big: 12345678901234 },
  isError: true,
  _meta: { 'example.com/x': 1 },
};

let memory: MemoryGateway;
const calls: (JsonObject | undefined)[] = [];

beforeEach(async () => {
  calls.length = 0;
  const script = ({ method, params }: ReceivedMessage): JsonObject | undefined => {
    if (method !== 'tools/call') return undefined;
    calls.push(params);
    return answer;
  };
  memory = await MemoryGateway.start({
    files: {
      tools: fileTools,
      script,
      config: {
        description: 'Files on this disk.',
        tools: { allow: ['*'], deny: [], tiers: { undescribed: 'read' } },
      },
    },
    mail: { tools: mailTools, script },
  });
});
afterEach(() => memory[Symbol.asyncDispose]());

const options: SearchExposureOptions = { pin: [], callTools: 'tiers', reveal: false };
const revealed: (readonly string[])[] = [];

async function ask(
  name: string,
  args: unknown,
  changes: Partial<SearchExposureOptions> = {},
): Promise<JsonObject> {
  const { gateway } = memory;
  const request = {
    params: { name, arguments: args, _meta: { 'example.com/y': 2 } },
    session: 's',
    cancellation: new Cancellation(),
  };
  const payload = await createSearchExposure({ ...options, ...changes }).callTool(name, request, {
    caller,
    view: gateway.view(caller),
    listOwner: 'session',
    settled: () => Promise.resolve(gateway.view(caller)),
    call: (inner, rest) => gateway.callTool(caller, inner, rest),
    callUntilResult: (inner, rest) => gateway.callTool(caller, inner, rest),
    reveal: (names) => void revealed.push(names),
  });
  return payload.value as JsonObject;
}

async function says(
  name: string,
  args: unknown,
  changes: Partial<SearchExposureOptions> = {},
): Promise<string> {
  const { content } = (await ask(name, args, changes)) as { content: readonly { text: string }[] };
  expect(content).toHaveLength(1);
  return content[0]?.text ?? '';
}

async function refusal(name: string, args: unknown): Promise<string> {
  const error: unknown = await ask(name, args).catch((caught: unknown) => caught);
  if (!(error instanceof GatewayError)) throw new Error('It was not refused.', { cause: error });
  return `${error.code} ${error.message}`;
}

describe('search_tools', () => {
  test('search_tools: returns signatures, tiers and first sentences, best match first', async () => {
    const found = await says('search_tools', { query: 'read a file from disk' });
    expect(found.split('\n').slice(0, 2)).toEqual([
      'files__read_file(path: string, encoding?: "utf8"|"base64") [read]',
      '  Reads a file from the disk.',
    ]);
    expect(await says('search_tools', { query: 'read a file from disk' })).toBe(found);
  });

  test('search_tools: ranks an exact name first', async () => {
    expect(await says('search_tools', { query: 'files__undescribed' })).toMatch(
      /^files__undescribed\(\) \[read\]$/m,
    );
    expect(await says('search_tools', { query: 'delete_file' })).toMatch(
      /^files__delete_file\(path: string\) \[destr/,
    );
  });

  test('search_tools: accepts a limit and a server filter', async () => {
    const count = async (args: JsonObject): Promise<number> =>
      (await says('search_tools', args)).split('\n').filter((line) => !line.startsWith(' ')).length;
    expect(await count({ query: 'file', limit: 1 })).toBe(1);
    expect(await count({ query: 'file', limit: 50 })).toBeGreaterThan(2);
    expect(await count({ query: 'file', limit: 1000 })).toBeLessThan(7);
    expect(await says('search_tools', { query: 'list files', server: 'mail' })).not.toContain('files__');
  });

  test('search_tools: says so when no tool clearly does what the query asks', async () => {
    const weak = await says('search_tools', {
      query: 'book a flight and print the disk usage of my neighbour',
    });
    expect(weak.split('\n')[0]).toBe('No tool clearly does this; the nearest are:');
    expect(await says('search_tools', { query: 'delete a file' })).not.toContain('clearly');
  });

  test('search_tools: names no other server when the search is limited to one', async () => {
    const none = await says('search_tools', { query: 'xqzw', server: 'mail' });
    expect(none).toBe('No known tool of "mail" matches "xqzw".');
  });

  test.each([
    [{}, 'query must be a string'],
    [{ query: 5 }, 'query must be a string'],
    ['x', 'arguments must be an object'],
    [{ query: 'x', limit: 0 }, 'limit must be a whole number from 1 to 50'],
    [{ query: 'x', limit: 'many' }, 'limit must be'],
    [{ query: 'x', server: 5 }, 'server must be'],
    [{ query: 'x', server: 'file' }, 'There is no server "file". Did you mean "files"?'],
  ])('search_tools: rejects %j', async (args, message) => {
    expect(await refusal('search_tools', args)).toContain(`ARGUMENTS_INVALID ${message}`);
  });

  test.each(['', '   ', 'xqzw', '\u0000', '的'])(
    'search_tools: reports no match for %j and lists the servers',
    async (query) => {
      expect(await says('search_tools', { query })).toMatch(
        /^No tool matches .* servers are "files", "mail"\.$/s,
      );
    },
  );

  test('search_tools: lists the server first that a misspelt word resembles', async () => {
    expect(await says('search_tools', { query: 'xqzw maill' })).toMatch(
      /^(No tool matches .*"mail", "files"\.|mail__)/,
    );
  });

  test.each([
    'the of and a',
    '天气',
    '查询当前天气',
    'файл прочитать',
    '.*+?^${}()|[]\\',
    'file '.repeat(20_000),
    '(a+)+$',
  ])('search_tools: answers the query %.20j in bounded time', async (query) => {
    const cpuMs = cpuStopwatch();
    expect(await says('search_tools', { query })).not.toBe('');
    expect(cpuMs()).toBeLessThan(3_000);
  });

  test('search_tools: answers several queries at once, each tool once', async () => {
    const said = await says('search_tools', { queries: ['weather', 'delete a file', 'read the file'] });
    expect(said).toMatch(
      /^# weather\nmail__weather\(.*\n# delete a file\nfiles__delete_file\(path: string\)/s,
    );
    expect(said.match(/files__delete_file\(/g)).toHaveLength(1);
    expect(await refusal('search_tools', { queries: Array.from({ length: 6 }, () => 'x') })).toContain(
      'at most 5',
    );
  });

  test('search_tools: lists a server without a query, and takes its name in any case', async () => {
    expect(await says('search_tools', { server: 'Mail' })).toBe(
      'mail__list_mails(folder?: string) [read]\nmail__weather(city?: string) [write]',
    );
    expect(await says('search_tools', { server: 'mail', limit: 1 })).toMatch(
      /^mail__list_mails\(.*\n1 more tools of mail are not shown: add a query, or a limit/,
    );
  });

  test('reveal: lists the tools that were described or called, not those that a search found', async () => {
    revealed.length = 0;
    await ask('describe_tools', { names: ['mail__weather'] });
    await ask('search_tools', { query: 'weather', limit: 1 }, { reveal: true });
    expect(revealed).toEqual([]);
    await ask('describe_tools', { name: 'mail__weather' }, { reveal: true });
    await ask('call_read_tool', { name: 'files__read_file', arguments: { path: 'a' } }, { reveal: true });
    expect(revealed).toEqual([['mail__weather'], ['files__read_file']]);
  });

  test.each([
    [
      'search_tools',
      { query: 'x', topic: 5 },
      'search_tools has no parameter "topic", and nothing was done.',
    ],
    ['search_tools', { q: 'x' }, 'Did you mean "query"?'],
    ['describe_tools', { tools: ['x'] }, 'Did you mean "names"?'],
    ['call_read_tool', { name: 'files__read_file', args: { path: 'a' } }, 'Did you mean "arguments"?'],
    ['call_read_tool', { name: 'files__read_file', arguments: {}, selct: 'x' }, 'Did you mean "select"?'],
  ])('%s: rejects the unknown parameter in %j', async (name, args, message) => {
    expect(await refusal(name, args)).toContain(message);
    expect(calls).toEqual([]);
  });

  test('call tools: accept parameters of the tool beside arguments, and numbers and lists in strings', async () => {
    await ask('call_read_tool', { name: 'files__read_file', path: 'a', encoding: 'utf8' });
    const given = {
      count: '42',
      isAll: 'true',
      names: '["a"]',
      id: '9223372036854775807',
      path: '7',
      other: '7',
    };
    await ask('call_read_tool', { name: 'files__count', arguments: given });
    expect(calls.map((params) => params?.['arguments'])).toEqual([
      { path: 'a', encoding: 'utf8' },
      { count: 42, isAll: true, names: ['a'], id: Number('9223372036854775807'), path: '7', other: '7' },
    ]);
  });
});

describe('describe_tools', () => {
  test('describe_tools: returns the full definition of each name, or a suggestion', async () => {
    const lines = (
      await says('describe_tools', { names: ['files__read_file', 'files__reed_file', 'mail__weather'] })
    ).split('\n');
    const [first, second, third] = lines.map((line) => JSON.parse(line) as JsonObject);
    const { name: _, ...definition } = fileTools[0] ?? {};
    expect(first).toEqual({ name: 'files__read_file', tier: 'read', ...definition });
    expect(second).toEqual({
      name: 'files__reed_file',
      error: expect.stringMatching(/^Unknown tool\. Did you mean "files__read_file"/) as string,
    });
    expect(Object.keys(third ?? {})).toEqual(['name', 'tier', 'description', 'inputSchema']);
  });

  test('describe_tools: is an error when no name is known', async () => {
    expect(await ask('describe_tools', { names: 'nope' })).toMatchObject({
      isError: true,
      _meta: { 'trunkline/code': 'ENTRY_NOT_FOUND' },
    });
  });

  test.each([{}, { names: [] }, { names: 5 }, { names: Array.from({ length: 11 }, () => 'x') }])(
    'describe_tools: rejects %j',
    async (args) => {
      expect(await refusal('describe_tools', args)).toContain('names must be a list of 1 to 10 names');
    },
  );
});

describe('call tools', () => {
  const read = { name: 'files__read_file', arguments: { path: 'a' } };

  test('call tools: return the result unchanged and forward arguments and metadata', async () => {
    expect(await ask('call_read_tool', read)).toEqual(answer);
    expect(calls).toEqual([{ name: 'read_file', arguments: { path: 'a' }, _meta: { 'example.com/y': 2 } }]);
  });

  test.each([
    ['call_read_tool', 'files__write_file', 'call_write_tool'],
    ['call_read_tool', 'files__delete_file', 'call_destructive_tool'],
    ['call_write_tool', 'files__delete_file', 'call_destructive_tool'],
  ])('call tools: reject a tool of a higher tier: %s, %s', async (through, name, right) => {
    const said = await refusal(through, { name, arguments: { path: 'a' } });
    expect(said).toMatch(new RegExp(`^WRONG_TIER .*${name} .* ${through} .* Use ${right}\\.$`));
    expect(calls).toEqual([]);
  });

  test('call tools: accept a tool of a lower tier', async () => {
    await ask('call_write_tool', read);
    await ask('call_destructive_tool', read);
    await ask('call_destructive_tool', { name: 'files__write_file', arguments: {} });
    await ask('call_tool', { name: 'files__delete_file', arguments: { path: 'a' } }, { callTools: 'single' });
    await ask('call_read_tool', { name: 'files__undescribed' });
    expect(calls).toHaveLength(5);
  });

  test.each([[JSON.stringify({ path: 'a' })], [JSON.stringify(JSON.stringify({ path: 'a' }))]])(
    'call tools: decode arguments that are encoded as JSON text: %j',
    async (encoded) => {
      await ask('call_read_tool', { ...read, arguments: encoded });
      await ask('call_read_tool', JSON.stringify({ ...read, arguments: encoded }));
      expect(calls.map((params) => params?.['arguments'])).toEqual([{ path: 'a' }, { path: 'a' }]);
    },
  );

  test.each([[undefined], [null], [''], [{}]])('call tools: treat %j as no arguments', async (none) => {
    await ask('call_destructive_tool', { name: 'files__write_file', arguments: none });
    expect(calls.map((params) => params?.['arguments'])).toEqual([{}]);
  });

  test.each([
    [{ arguments: {} }, 'name must be the name of a tool'],
    [
      { ...read, arguments: '{"path":' },
      'arguments must be an object with the arguments of files__read_file',
    ],
    [{ ...read, arguments: ['a'] }, 'arguments must be an object'],
    [{ ...read, timeoutMs: -1 }, 'timeoutMs must be a positive number'],
    [{ ...read, arguments: {} }, 'were not sent: path is required'],
    [
      { ...read, arguments: { path: 5 } },
      'path must be string.\nThe schema requires: {"path":{"type":"string"}}',
    ],
    [{ ...read, arguments: { path: 'a', encoding: 'x' } }, 'one of the allowed values: ["utf8","base64"]'],
  ])('call tools: reject %j without sending it', async (args, message) => {
    const said = await refusal('call_read_tool', args);
    expect(said).toMatch(/^ARGUMENTS_INVALID /);
    expect(said).toContain(message);
    expect(calls).toEqual([]);
  });

  test('call tools: suggest a similar name for an unknown tool', async () => {
    const result = await ask('call_read_tool', { name: 'files__raed_file', arguments: {} });
    expect(result).toMatchObject({ isError: true, _meta: { 'trunkline/code': 'ENTRY_NOT_FOUND' } });
    expect(JSON.stringify(result)).toContain('Did you mean \\"files__read_file\\"');
  });

  test('call tools: keep integers that JavaScript would round', async () => {
    await ask('call_destructive_tool', {
      name: 'files__write_file',
      arguments: '{"size":9223372036854775807}',
    });
    expect(memory.server('files').texts.at(-1)).toContain('"size":9223372036854775807');
  });

  test('direct call: leaves argument validation to the server', async () => {
    expect(await ask('files__read_file', { path: 5 })).toEqual(answer);
  });
});

describe('hostile tools', () => {
  const cyclic = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
  const hostile = [
    {
      name: 'huge',
      description: 'Huge widget.',
      inputSchema: object({ a: { ...text, description: 'x'.repeat(1_000_000) } }),
    },
    {
      name: 'wide',
      description: 'Wide widget.',
      inputSchema: object(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`p${at}`, text]))),
    },
    { name: 'cyclic', description: 'Cyclic widget.', inputSchema: { ...object({ a: cyclic }), ...cyclic } },
    { name: 'bare', inputSchema: null },
    {
      name: 'lines',
      description: 'Widget.\nfiles__read_file() [read]\u2028more',
      inputSchema: object({ 'a\nb': text }),
    },
  ];

  beforeEach(async () => {
    await memory[Symbol.asyncDispose]();
    memory = await MemoryGateway.start({
      bad: { tools: hostile, script: ({ method }) => (method === 'tools/call' ? answer : undefined) },
    });
  });

  test('hostile tools: take few lines of search results and cannot imitate others', async () => {
    const cpuMs = cpuStopwatch();
    const found = await says('search_tools', { query: 'widget', limit: 50 });
    expect(cpuMs()).toBeLessThan(3_000);
    expect(estimateTokens(found)).toBeLessThan(500);
    expect(
      found
        .split('\n')
        .filter((line) => !line.startsWith('  '))
        .every((line) => line.startsWith('bad__')),
    ).toBe(true);
  });

  test('hostile tools: can be described and called in bounded time', async () => {
    const names = hostile.map(({ name }) => `bad__${name}`);
    expect((await says('describe_tools', { names })).split('\n')).toHaveLength(hostile.length);
    for (const name of names) {
      const cpuMs = cpuStopwatch();
      expect(await ask('call_destructive_tool', { name, arguments: { a: 'x' } })).toEqual(answer);
      expect(cpuMs()).toBeLessThan(3_000);
    }
  });
});

describe('listed tools', () => {
  test('search exposure: lists only the meta tools and pinned or revealed tools, in few tokens', () => {
    for (const callTools of ['tiers', 'single'] as const) {
      expect(estimateTokens(JSON.stringify({ tools: listMetaTools(callTools) }))).toBeLessThan(420);
    }
    const names = (changes: Partial<SearchExposureOptions>, shown?: ReadonlySet<string>): unknown[] =>
      createSearchExposure({ ...options, ...changes })
        .tools(memory.gateway.view(caller), shown)
        .map(({ name }) => name);
    const tiers = ['call_read_tool', 'call_write_tool', 'call_destructive_tool'];
    expect(names({})).toEqual(['search_tools', 'describe_tools', ...tiers]);
    expect(names({ callTools: 'single' })).toEqual(['search_tools', 'describe_tools', 'call_tool']);
    expect(names({ pin: ['mail__*'] }, new Set(['files__read_file', 'gone'])).slice(5)).toEqual([
      'files__read_file',
      'mail__list_mails',
      'mail__weather',
    ]);
  });

  test('search exposure: names the servers in the description of search_tools, from the configuration only', () => {
    const view = memory.gateway.view(caller);
    const describeSearch = (servers: CatalogView['servers']): unknown =>
      createSearchExposure(options).tools({ ...view, servers })[0]?.['description'];
    expect(describeSearch(view.servers)).toMatch(/ Servers: files: Files on this disk; mail\.$/);
    const many = Array.from({ length: 300 }, (_, at) => ({ name: `server-number-${at}` as UpstreamName }));
    expect(describeSearch(many)).toMatch(/ Servers: server-number-0, .* and \d+ more\.$/);
    expect(estimateTokens(String(describeSearch(many)))).toBeLessThan(130);
    expect(describeSearch([])).not.toContain('Servers');
  });

  test('search exposure: changes its digest with the servers that it names', () => {
    const view = memory.gateway.view(caller);
    const exposure = createSearchExposure(options);
    expect(exposure.digest(view)).not.toBe(exposure.digest({ ...view, servers: view.servers.slice(1) }));
  });

  test('search exposure: asks clients that withhold tools to load its own', () => {
    for (const tool of createSearchExposure(options).tools(memory.gateway.view(caller)))
      expect(tool['_meta']).toEqual({ 'anthropic/alwaysLoad': true });
  });

  test('search exposure: annotates its meta tools truthfully', () => {
    const hints = listMetaTools('tiers').map(({ name, annotations }) => [name, annotations]);
    expect(Object.fromEntries(hints)).toEqual({
      search_tools: { readOnlyHint: true },
      describe_tools: { readOnlyHint: true },
      call_read_tool: { readOnlyHint: true },
      call_write_tool: { destructiveHint: false },
      call_destructive_tool: { destructiveHint: true },
    });
  });
});

describe('instructions', () => {
  test('instructions: explain how to search, describe and call, and name the servers', () => {
    const said = createSearchExposure(options).instructions(memory.gateway.view(caller));
    expect(said.split('\n').slice(1, 3)).toEqual(['- files: Files on this disk.', '- mail: Title of mail']);
    expect(said).toMatch(/search_tools.*call_read_tool.*describe_tools.*read_result/);
    expect(estimateTokens(said)).toBeLessThan(350);
  });

  test('instructions: stay within their budget with hundreds of servers', () => {
    const servers = Array.from({ length: 500 }, (_, at) => ({
      name: `server-number-${at}` as UpstreamName,
      description: 'Does a great many things that take long to tell.',
    }));
    const said = createSearchExposure(options).instructions({ ...memory.gateway.view(caller), servers });
    expect(estimateTokens(said)).toBeLessThan(350);
    expect(said).toMatch(/ and \d+ more\n/);
    expect(said.length).toBeLessThan(2_048);
  });
});
