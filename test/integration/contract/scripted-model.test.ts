import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { root } from './source-tree.ts';

interface ScriptedModel {
  readonly url: string;
  readonly scripts: Record<string, readonly object[]>;
  requestsOf(script: string): readonly { readonly turns: readonly { readonly result: string }[] }[];
  close(): void;
}

let model: ScriptedModel;

beforeAll(async () => {
  const { startScriptedModel } = (await import(
    pathToFileURL(join(root, 'test/compat/scripted-model.mjs')).href
  )) as { readonly startScriptedModel: () => Promise<ScriptedModel> };
  model = await startScriptedModel();
  model.scripts['add'] = [{ call: 'add', args: { a: 1 } }, { say: 'FINISHED' }];
});

afterAll(() => model.close());

const prompt = 'Please run script:add';
const call = { id: 'c1', type: 'function', function: { name: 'mcp__x__add', arguments: '{"a":1}' } };

/** By API: the path, the first request, the first request with the result of the call, and where the answers have the call and the text. */
const apis = {
  'Anthropic Messages': {
    path: '/v1/messages',
    first: { messages: [{ role: 'user', content: prompt }], tools: [{ name: 'mcp__x__add' }] },
    turn: {
      messages: [
        { role: 'user', content: prompt },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'c1', name: 'mcp__x__add', input: { a: 1 } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'one' }] },
      ],
    },
    called: { content: [{ type: 'tool_use', name: 'mcp__x__add', input: { a: 1 } }] },
    said: { content: [{ type: 'text', text: 'FINISHED' }] },
  },
  'OpenAI Responses': {
    path: '/v1/responses',
    first: {
      input: [{ role: 'user', content: prompt }],
      tools: [{ type: 'namespace', name: 'mcp__x', tools: [{ type: 'function', name: 'add' }] }],
    },
    turn: {
      input: [
        { role: 'user', content: prompt },
        { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'one' },
      ],
    },
    called: { output: [{ type: 'function_call', namespace: 'mcp__x', name: 'add', arguments: '{"a":1}' }] },
    said: { output: [{ type: 'message', content: [{ text: 'FINISHED' }] }] },
  },
  'OpenAI Chat': {
    path: '/v1/chat/completions',
    first: { messages: [{ role: 'user', content: prompt }], tools: [{ function: { name: 'mcp__x__add' } }] },
    turn: {
      messages: [
        { role: 'user', content: prompt },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
      ],
    },
    called: { choices: [{ message: { tool_calls: [{ function: call.function }] } }] },
    said: { choices: [{ message: { content: 'FINISHED' } }] },
  },
  Gemini: {
    path: '/v1beta/models/scripted:generateContent',
    first: {
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      tools: [{ functionDeclarations: [{ name: 'mcp__x__add' }] }],
    },
    turn: {
      contents: [
        { role: 'user', parts: [{ text: prompt }] },
        { role: 'model', parts: [{ functionCall: { name: 'mcp__x__add', args: { a: 1 } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'mcp__x__add', response: { output: 'one' } } }] },
      ],
    },
    called: {
      candidates: [{ content: { parts: [{ functionCall: { name: 'mcp__x__add', args: { a: 1 } } }] } }],
    },
    said: { candidates: [{ content: { parts: [{ text: 'FINISHED' }] } }] },
  },
};

test.each(Object.entries(apis))(
  'scripted model: plays a script over %s',
  async (_, { path, first, turn, called, said }) => {
    expect(await post(path, first)).toMatchObject(called);
    expect(await post(path, { ...first, ...turn })).toMatchObject(said);
    expect(model.requestsOf('add').at(-1)?.turns.at(-1)?.result).toContain('one');
  },
);

test('scripted model: searches with the tool of the client for a tool that the client defers', async () => {
  const { path, first } = apis['Anthropic Messages'];
  const tools = [{ name: 'ToolSearch' }, { name: 'mcp__x__add', defer_loading: true }];
  expect(await post(path, { ...first, tools })).toMatchObject({
    content: [{ type: 'tool_use', name: 'ToolSearch', input: { query: expect.stringContaining('add') } }],
  });
});

test('scripted model: says which tool it misses', async () => {
  const { path, first } = apis['Anthropic Messages'];
  expect(await post(path, { ...first, tools: [{ name: 'other' }] })).toMatchObject({
    content: [{ type: 'text', text: expect.stringContaining('MISSING TOOL add') }],
  });
});

async function post(path: string, body: object): Promise<unknown> {
  const response = await fetch(model.url + path, { method: 'POST', body: JSON.stringify(body) });
  return response.json();
}
