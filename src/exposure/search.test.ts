import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { Heard } from '../../test/support/memory-server.ts';
import type { Caller } from '../model/caller.ts';
import { Cancellation } from '../lib/cancellation.ts';
import { GatewayError } from '../model/errors.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import { metaTools } from './meta-tools.ts';
import { search } from './search.ts';
import type { SearchOptions } from './search.ts';
import { estimateTokens } from './tokens.ts';

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
];
const mailTools = [
  { name: 'list_mails', description: 'Lists e-mails in the inbox.', inputSchema: object({ folder: text }) },
  { name: 'weather', description: '查询当前天气', inputSchema: object({ city: text }) },
];

/** What a server answers; everything in it must come through. */
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
  const script = ({ method, params }: Heard): JsonObject | undefined => {
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

const options: SearchOptions = { pin: [], callTools: 'tiers', reveal: false };
const revealed: (readonly string[])[] = [];

async function ask(name: string, args: unknown, changes: Partial<SearchOptions> = {}): Promise<JsonObject> {
  const { gateway } = memory;
  const request = {
    params: { name, arguments: args, _meta: { 'example.com/y': 2 } },
    session: 's',
    cancellation: new Cancellation(),
  };
  const payload = await search({ ...options, ...changes }).callTool(name, request, {
    caller,
    view: gateway.view(caller),
    settled: () => Promise.resolve(gateway.view(caller)),
    call: (inner, rest) => gateway.callTool(caller, inner, rest),
    callToEnd: (inner, rest) => gateway.callTool(caller, inner, rest),
    reveal: (names) => void revealed.push(names),
  });
  return payload.value as JsonObject;
}

async function says(name: string, args: unknown, changes: Partial<SearchOptions> = {}): Promise<string> {
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
  test('answers with signatures, tiers and first sentences, the best first', async () => {
    const found = await says('search_tools', { query: 'read a file from disk' });
    expect(found.split('\n').slice(0, 2)).toEqual([
      'files__read_file(path: string, encoding?: "utf8"|"base64") [read]',
      '  Reads a file from the disk.',
    ]);
    expect(await says('search_tools', { query: 'read a file from disk' })).toBe(found);
  });

  test('puts an exact name first', async () => {
    expect(await says('search_tools', { query: 'files__undescribed' })).toMatch(
      /^files__undescribed\(\) \[read\]$/m,
    );
    expect(await says('search_tools', { query: 'delete_file' })).toMatch(
      /^files__delete_file\(path: string\) \[destr/,
    );
  });

  test('takes a limit and a server', async () => {
    const count = async (args: JsonObject): Promise<number> =>
      (await says('search_tools', args)).split('\n').filter((line) => !line.startsWith(' ')).length;
    expect(await count({ query: 'file', limit: 1 })).toBe(1);
    expect(await count({ query: 'file', limit: 50 })).toBeGreaterThan(2);
    expect(await count({ query: 'file', limit: 1000 })).toBeLessThan(7);
    expect(await says('search_tools', { query: 'list files', server: 'mail' })).not.toContain('files__');
  });

  test.each([
    [{}, 'query must be a string'],
    [{ query: 5 }, 'query must be a string'],
    ['x', 'arguments must be an object'],
    [{ query: 'x', limit: 0 }, 'limit must be a whole number from 1 to 50'],
    [{ query: 'x', limit: 'many' }, 'limit must be'],
    [{ query: 'x', server: 5 }, 'server must be'],
    [{ query: 'x', server: 'file' }, 'There is no server "file". Did you mean "files"?'],
  ])('refuses %j', async (args, message) => {
    expect(await refusal('search_tools', args)).toContain(`ARGUMENTS_INVALID ${message}`);
  });

  test.each(['', '   ', 'xqzw', '\u0000', '的'])(
    'says that nothing matches %j and which servers there are',
    async (query) => {
      expect(await says('search_tools', { query })).toMatch(
        /^No tool matches .* servers are "files", "mail"\.$/s,
      );
    },
  );

  test('names the server first that a misspelt word may mean', async () => {
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
  ])('has an answer to %.20j', async (query) => {
    const begin = performance.now();
    expect(await says('search_tools', { query })).not.toBe('');
    expect(performance.now() - begin).toBeLessThan(2_000);
  });

  test('reveals what it found, if it is to', async () => {
    revealed.length = 0;
    await ask('search_tools', { query: 'weather', limit: 1 });
    expect(revealed).toEqual([]);
    await ask('search_tools', { query: 'weather', limit: 1 }, { reveal: true });
    expect(revealed).toEqual([['mail__weather']]);
  });
});

describe('describe_tools', () => {
  test('answers with everything that a call needs, one line per name', async () => {
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

  test('is an error when there is none of the names', async () => {
    expect(await ask('describe_tools', { names: 'nope' })).toMatchObject({
      isError: true,
      _meta: { 'trunkline/code': 'ENTRY_NOT_FOUND' },
    });
  });

  test.each([{}, { names: [] }, { names: 5 }, { names: Array.from({ length: 11 }, () => 'x') }])(
    'refuses %j',
    async (args) => {
      expect(await refusal('describe_tools', args)).toContain('names must be a list of 1 to 10 names');
    },
  );
});

describe('the tools that call', () => {
  const read = { name: 'files__read_file', arguments: { path: 'a' } };

  test('give the result as it came, for the arguments and whatever else was sent', async () => {
    expect(await ask('call_read_tool', read)).toEqual(answer);
    expect(calls).toEqual([{ name: 'read_file', arguments: { path: 'a' }, _meta: { 'example.com/y': 2 } }]);
  });

  test.each([
    ['call_read_tool', 'files__write_file', 'call_write_tool'],
    ['call_read_tool', 'files__delete_file', 'call_destructive_tool'],
    ['call_write_tool', 'files__delete_file', 'call_destructive_tool'],
  ])('refuse what is of a higher tier: %s, %s', async (through, name, right) => {
    const said = await refusal(through, { name, arguments: { path: 'a' } });
    expect(said).toMatch(new RegExp(`^WRONG_TIER .*${name} .* ${through} .* ${right} does`));
    expect(calls).toEqual([]);
  });

  test('call what is of a lower tier', async () => {
    await ask('call_write_tool', read);
    await ask('call_destructive_tool', read);
    await ask('call_destructive_tool', { name: 'files__write_file', arguments: {} });
    await ask('call_tool', { name: 'files__delete_file', arguments: { path: 'a' } }, { callTools: 'single' });
    await ask('call_read_tool', { name: 'files__undescribed' });
    expect(calls).toHaveLength(5);
  });

  test.each([[JSON.stringify({ path: 'a' })], [JSON.stringify(JSON.stringify({ path: 'a' }))]])(
    'repair arguments that were encoded: %j',
    async (encoded) => {
      await ask('call_read_tool', { ...read, arguments: encoded });
      await ask('call_read_tool', JSON.stringify({ ...read, arguments: encoded }));
      expect(calls.map((params) => params?.['arguments'])).toEqual([{ path: 'a' }, { path: 'a' }]);
    },
  );

  test.each([[undefined], [null], [''], [{}]])('take %j as no arguments', async (none) => {
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
    [{ ...read, arguments: { path: 5 } }, 'path must be string.\nIts input schema: {"type":"object"'],
    [{ ...read, arguments: { path: 'a', encoding: 'x' } }, 'one of the allowed values: ["utf8","base64"]'],
  ])('never send %j', async (args, message) => {
    const said = await refusal('call_read_tool', args);
    expect(said).toMatch(/^ARGUMENTS_INVALID /);
    expect(said).toContain(message);
    expect(calls).toEqual([]);
  });

  test('say which tool was meant by a name that is none', async () => {
    const result = await ask('call_read_tool', { name: 'files__raed_file', arguments: {} });
    expect(result).toMatchObject({ isError: true, _meta: { 'trunkline/code': 'ENTRY_NOT_FOUND' } });
    expect(JSON.stringify(result)).toContain('Did you mean \\"files__read_file\\"');
  });

  test('keep numbers exact that JavaScript would round', async () => {
    await ask('call_destructive_tool', {
      name: 'files__write_file',
      arguments: '{"size":9223372036854775807}',
    });
    expect(memory.server('files').texts.at(-1)).toContain('"size":9223372036854775807');
  });

  test('leave a tool that is called under its own name to its server', async () => {
    expect(await ask('files__read_file', { path: 5 })).toEqual(answer);
  });
});

describe('tools that were written to do harm', () => {
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

  test('are found in a few lines that only we wrote', async () => {
    const begin = performance.now();
    const found = await says('search_tools', { query: 'widget', limit: 50 });
    expect(performance.now() - begin).toBeLessThan(3_000);
    expect(estimateTokens(found)).toBeLessThan(500);
    expect(
      found
        .split('\n')
        .filter((line) => !line.startsWith('  '))
        .every((line) => line.startsWith('bad__')),
    ).toBe(true);
  });

  test('are described and called', async () => {
    const names = hostile.map(({ name }) => `bad__${name}`);
    expect((await says('describe_tools', { names })).split('\n')).toHaveLength(hostile.length);
    for (const name of names) {
      const begin = performance.now();
      expect(await ask('call_destructive_tool', { name, arguments: { a: 'x' } })).toEqual(answer);
      expect(performance.now() - begin).toBeLessThan(3_000);
    }
  });
});

describe('what is listed', () => {
  test('is little, whatever there is', () => {
    for (const callTools of ['tiers', 'single'] as const) {
      expect(estimateTokens(JSON.stringify({ tools: metaTools(callTools) }))).toBeLessThan(400);
    }
    const names = (changes: Partial<SearchOptions>, shown?: ReadonlySet<string>): unknown[] =>
      search({ ...options, ...changes })
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

  test('has true annotations', () => {
    const hints = metaTools('tiers').map(({ name, annotations }) => [name, annotations]);
    expect(Object.fromEntries(hints)).toEqual({
      search_tools: { readOnlyHint: true },
      describe_tools: { readOnlyHint: true },
      call_read_tool: { readOnlyHint: true },
      call_write_tool: { destructiveHint: false },
      call_destructive_tool: { destructiveHint: true },
    });
  });
});

describe('the instructions', () => {
  test('teach how to search, describe and call, and name the servers', () => {
    const said = search(options).instructions(memory.gateway.view(caller));
    expect(said).toMatch(/search_tools.*describe_tools.*call_read_tool/);
    expect(said.split('\n').slice(1)).toEqual(['- files: Files on this disk.', '- mail: Title of mail']);
  });

  test('stay in their budget with hundreds of servers', () => {
    const servers = Array.from({ length: 500 }, (_, at) => ({
      name: `server-number-${at}` as UpstreamName,
      description: 'Does a great many things that take long to tell.',
    }));
    const said = search(options).instructions({ ...memory.gateway.view(caller), servers });
    expect(estimateTokens(said)).toBeLessThan(300 + 70);
    expect(said).toMatch(/ and \d+ more$/);
  });
});
