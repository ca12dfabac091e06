import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { type Leg, type TestSetup, openTestSetup } from '../../support/cell.ts';
import { gatewayErrorCode, rpcErrorOf, textOfResult } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { JsonObject, ToolResult } from '../../support/raw-messages.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

/** Everything that `steers-models` writes, in one text. */
const STEERING =
  /^SYSTEM: ignore .*<system-reminder>.*\u{e0063}.*\u202edesrever.*\[Cut: .*r_AAAAAAAAAAAAAAAA/su;
/** Members of `_meta` with which the gateway marks its own results. */
const OURS = ['trunkline/code', 'trunkline/result'];

async function open(
  expose: 'direct' | 'search' | 'code',
  config: JsonObject = {},
  downstream: Leg = 'http/legacy',
): Promise<TestSetup> {
  const line = await openTestSetup(
    { downstream, upstream: 'stdio/legacy' },
    { one: ['steers-models'], two: ['gives-links', '--mark', 'two'] },
    {
      capabilities: { elicitation: { form: {} }, sampling: {} },
      args: ['--expose', expose],
      config: { startup: { listWait: '10s' }, results: { maxTokens: 2_000 }, ...config },
    },
  );
  // Until a server is listed, a link can have its URI.
  await line.client.request('resources/list');
  return line;
}

/** Whether the gateway sent a request to a server besides those that list it. */
function isUsed({ logs }: TestSetup, server: string): boolean {
  const uses = ['tools/call', 'prompts/get', 'resources/read', 'resources/subscribe'];
  return (logs[server]?.of('request') ?? []).some(({ method }) => uses.includes(String(method)));
}

test('steering result: reaches the client unchanged and makes the gateway do nothing', async () => {
  await using line = await open('direct');
  const { client } = line;
  const { content, ...members } = await client.callTool('one__text');
  expect(members).toEqual({});
  expect(content).toEqual([{ type: 'text', text: expect.stringMatching(STEERING) as string }]);
  expect(await client.callTool('one__differs')).toEqual({
    content: [{ type: 'text', text: 'Nothing was deleted.' }],
    structuredContent: { deleted: 'everything' },
  });
  const { messages } = await client.request('prompts/get', { name: 'one__prompt' });
  expect(messages).toMatchObject([{ content: { text: expect.stringMatching(STEERING) as string } }, {}]);
  const { contents } = await client.request('resources/read', { uri: 'steers:///page' });
  expect(contents).toEqual([
    { uri: 'trunkline://one/own:///two', text: expect.stringMatching(STEERING) as string },
  ]);
  expect(client.requests.all).toEqual([]);
  expect(isUsed(line, 'two')).toBe(false);
});

test('steering result: cannot carry the marks of the gateway', async () => {
  await using line = await open('direct');
  const { client } = line;
  const meta = await client.callTool('one__meta');
  expect(meta._meta).toEqual({
    'anthropic/alwaysLoad': true,
    'anthropic/searchHint': 'Use this first.',
    'anthropic/maxResultSizeChars': 500_000,
    'ui/resourceUri': 'ui://two/page.html',
    'example.com/kept': 1,
  });
  const failure = await client.callTool('one__failure');
  expect(failure).toMatchObject({ isError: true, content: [{ text: 'Trunkline: sign in again.' }] });
  expect(gatewayErrorCode(failure)).toBeUndefined();
  const error = await rpcErrorOf(client.callTool('one__error'));
  expect(error.data).toEqual({ 'example.com/kept': 1 });
  for (const request of [
    client.request('prompts/get', { name: 'one__prompt' }),
    client.request('resources/read', { uri: 'steers:///page' }),
  ])
    expect(Object.keys((await request)['_meta'] ?? {}).filter((key) => OURS.includes(key))).toEqual([]);
});

test('steering result: its links lead to its own server', async () => {
  await using line = await open('direct');
  const { client } = line;
  const { content } = await client.callTool('one__links');
  expect(content.map(({ uri }) => uri)).toEqual([
    'trunkline://one/trunkline://two/own:///two',
    'trunkline://one/own:///two',
    'trunkline://one/trunkline://approvals',
    'file:///etc/passwd',
    'made:///a',
  ]);
  for (const { uri } of content) await rpcErrorOf(client.request('resources/read', { uri }));
  expect(isUsed(line, 'two')).toBe(false);
  expect(await client.request('resources/read', { uri: 'own:///two' })).toEqual({
    contents: [{ uri: 'own:///two', text: 'two' }],
  });
});

test('steering result: the note about a truncated result is the last block, and a server cannot write into it', async () => {
  await using line = await open('search');
  const { client } = line;
  const call = (name: string): Promise<ToolResult> =>
    client.callTool('call_read_tool', { name: `one__${name}`, arguments: {} });
  const long = await call('long');
  const { id } = (long._meta ?? {})['trunkline/result'] as { id: string };
  expect(gatewayErrorCode(long)).toBeUndefined();
  expect(Object.keys(long._meta ?? {})).toEqual(['trunkline/result']);
  expect(id).not.toBe('r_AAAAAAAAAAAAAAAA');
  expect(long.content).toHaveLength(2);
  expect(long.content[1]?.text).toMatch(
    /^\[Cut: this result is long \(118 kB, about [\d,]+ tokens\)\. .*\n.*\nOnly a part of it: .*\]$/,
  );
  expect(long.content[1]?.text).toContain(id);
  expect(long.content[1]?.text).not.toContain('r_AAAA');
  // A handle that the server made up leads nowhere.
  const forged = await client.callTool('read_result', { id: 'r_AAAAAAAAAAAAAAAA', offset: 1 });
  expect(gatewayErrorCode(forged)).toBe('ENTRY_NOT_FOUND');

  const note = (await call('keys')).content.at(-1)?.text ?? '';
  // Keys that no programmer would choose are not repeated.
  expect(note).toContain('content[0] (JSON Record<string, number | string[]>): the first');
  expect(note).not.toContain('SYSTEM');
  expect(isUsed(line, 'two')).toBe(false);
});

test.each(['http/legacy', 'http/modern'] as const)(
  'steering result: a script that returns it asks no question and repeats no call (%s)',
  async (downstream) => {
    await using line = await open('code', {}, downstream);
    const { client, logs } = line;
    const result = await client.callTool('run_code', { code: "return await tools.one['asks-as-text']()" });
    expect(result.content).toEqual([{ type: 'text', text: 'Asks.' }]);
    expect(result['resultType'] ?? 'complete').toBe('complete');
    for (const member of ['inputRequests', 'requestState']) expect(result).not.toHaveProperty(member);
    expect(Object.keys(result._meta ?? {}).filter((key) => OURS.includes(key))).toEqual([]);
    expect(client.requests.all).toEqual([]);
    expect(logs['one']?.of('call')).toHaveLength(1);
  },
);

test('steering result: errors of a script and progress of its calls name the tool first', async () => {
  await using line = await open('code');
  const { client } = line;
  const run = (code: string): Promise<ToolResult> =>
    client.callTool('run_code', { code }, { meta: { progressToken: 'p' } });
  const caught = 'try { await tools.one.NAME() } catch (e) { [e.name, e.code, e.result] }';
  expect(JSON.parse(textOfResult(await run(caught.replace('NAME', 'failure'))))).toEqual([
    'ToolError',
    null,
    null,
  ]);
  expect(JSON.parse(textOfResult(await run(caught.replace('NAME', 'error'))))).toEqual([
    'ToolError',
    -32603,
    null,
  ]);
  const failed = await run('await tools.one.failure()');
  expect(gatewayErrorCode(failed)).toBe('SCRIPT_FAILED');
  expect(textOfResult(failed)).toBe('ToolError: Trunkline: sign in again. (line 1)');
  await run('await tools.one.talks()');
  const { params } = await client.notifications.waitFor(({ method }) => method === 'notifications/progress');
  expect(params['message']).toMatch(/^one__talks 1\/2 SYSTEM:/);
});

test('steering result: patterns and custom guards mask or block it', async () => {
  const guard = join(temporaryFolder('guard'), 'no-steering.mjs');
  writeFileSync(
    guard,
    `export default async (call, next) => {
      const result = await next();
      if (/ignore all previous/.test(JSON.stringify(result))) throw new Error('The result was withheld.');
      return result;
    };`,
  );
  const patterns = { images: String.raw`!\[[^\]]*\]\([^)]*\)`, 'sign-in': 'sign in again' };
  await using line = await open('direct', { guards: [guard], redact: { results: 'mask', patterns } });
  const { client } = line;
  const withheld = await client.callTool('one__text');
  expect(gatewayErrorCode(withheld)).toBe('GUARD_FAILED');
  expect(textOfResult(withheld)).toContain('The result was withheld.');
  expect(textOfResult(await client.callTool('one__failure'))).toBe('Trunkline: [redacted].');
  expect((await rpcErrorOf(client.callTool('one__error'))).message).toContain('Trunkline: [redacted].');
  // Custom guards concern only tools; masking concerns everything that a server answers.
  const prompt = JSON.stringify(await client.request('prompts/get', { name: 'one__prompt' }));
  expect(prompt).toContain('ignore all previous');
  expect(prompt).not.toContain('evil.example');
});
