import { afterEach, beforeEach, expect, test } from 'vitest';

import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import { Cancellation } from '../core/lib/cancellation.ts';
import type { Caller } from '../core/caller.ts';
import type { JsonObject } from '../core/json.ts';
import { OversizedResults } from './results/oversized-results.ts';
import { answerSearchTools } from './answer-search-tools.ts';
import { createSearchExposure } from './search-exposure.ts';
import { estimateTokens } from './estimate-tokens.ts';

const caller: Caller = { id: 'ada', via: 'stdio', profile: 'default' };
const long = Array.from({ length: 2_000 }, (_, at) => `line ${at}`).join('\n');
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const description = 'words and more words '.repeat(1_000);
const huge = { ...schema, properties: { a: { type: 'string', description } } };

let memory: MemoryGateway;
let results: OversizedResults;
let answer: JsonObject = {};

beforeEach(async () => {
  answer = { content: [{ type: 'text', text: long }], structuredContent: { long } };
  results = new OversizedResults({
    maxTokens: 1_000,
    keepMs: 60_000,
    maxBytes: 1_000_000,
    estimate: estimateTokens,
    now: Date.now,
  });
  memory = await MemoryGateway.start({
    files: {
      tools: [
        { name: 'read_log', description: 'Reads a log.', inputSchema: { type: 'object' } },
        { name: 'promised', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } },
        { name: 'huge', description: 'Huge.', inputSchema: huge },
      ],
      script: ({ method }) => (method === 'tools/call' ? answer : undefined),
    },
  });
});
afterEach(async () => {
  results[Symbol.dispose]();
  await memory[Symbol.asyncDispose]();
});

async function ask(name: string, args: unknown, by = caller): Promise<JsonObject> {
  const { gateway } = memory;
  const request = { params: { name, arguments: args }, session: 's', cancellation: new Cancellation() };
  const exposure = createSearchExposure({ pin: [], callTools: 'tiers', reveal: false, results });
  const payload = await exposure.callTool(name, request, {
    caller: by,
    view: gateway.view(by),
    listOwner: 'session',
    settled: () => Promise.resolve(gateway.view(by)),
    call: (inner, rest) => gateway.callTool(by, inner, rest),
    callUntilResult: (inner, rest) => gateway.callTool(by, inner, rest),
    reveal: () => {},
  });
  return payload.value as JsonObject;
}

const idOf = ({ _meta: meta }: JsonObject): unknown =>
  ((meta as JsonObject)['trunkline/result'] as JsonObject)['id'];

test('big result: is truncated and readable in pages for calls by meta tool or own name', async () => {
  for (const cut of [
    await ask('call_read_tool', { name: 'files__read_log', arguments: {} }),
    await ask('files__read_log', {}),
  ]) {
    expect(estimateTokens(JSON.stringify(cut))).toBeLessThan(1_000);
    const page = await ask('read_result', { id: idOf(cut), offset: '1999' });
    expect((page['content'] as JsonObject[])[0]).toMatchObject({ text: 'line 1999' });
  }
});

test('big result: stays whole for a direct call of a tool with an output schema', async () => {
  expect(await ask('files__promised', {})).toEqual(answer);
});

test('read_result: returns pages untruncated, and only to the caller that got the result', async () => {
  const id = idOf(await ask('files__read_log', {}));
  expect(await ask('read_result', { id })).toMatchObject({ _meta: { 'trunkline/result': { id } } });
  const eve = await ask('read_result', { id }, { ...caller, id: 'eve' });
  expect(eve).toMatchObject({ isError: true, _meta: { 'trunkline/code': 'ENTRY_NOT_FOUND' } });
});

test('big result: truncates descriptions and validation errors with a huge schema as well', async () => {
  const described = await ask('describe_tools', { names: ['files__huge'] });
  expect(estimateTokens(JSON.stringify(described))).toBeLessThan(1_000);
  const refused = await ask('call_destructive_tool', { name: 'files__huge', arguments: {} });
  expect(refused).toMatchObject({ isError: true, _meta: { 'trunkline/code': 'ARGUMENTS_INVALID' } });
  expect(JSON.stringify(refused)).toContain('do not fit files__huge and were not sent: ');
  expect(estimateTokens(JSON.stringify(refused))).toBeLessThan(1_000);
});

test.each([
  [{}, 'id must be'],
  [{ id: 'x', offset: -1 }, 'offset must be a whole number from 0'],
  [{ id: 'x', offset: 1.5 }, 'offset must be'],
  [{ id: 'x', limit: 0 }, 'limit must be a whole number from 1'],
  [{ id: 'x', limit: 'many' }, 'limit must be'],
  [{ id: 'x', find: 5 }, 'find must be a text'],
])('read_result: rejects %j', async (args, message) => {
  await expect(ask('read_result', args)).rejects.toThrow(message);
});

test('search_tools: searches again if listings arrive while a search finds nothing', async () => {
  const view = memory.gateway.view(caller);
  const earlier = {
    ...view,
    digests: { ...view.digests, tools: 'earlier' as typeof view.digests.tools },
    search: () => Promise.resolve([]),
  };
  const ask = async (latest: typeof view): Promise<string> =>
    (await answerSearchTools({ query: 'read a log' }, earlier, () => Promise.resolve(latest))).text;
  expect(await ask(view)).toContain('files__read_log');
  expect(await ask(earlier)).toContain('No tool matches');
});
