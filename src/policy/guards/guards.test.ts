import { describe, expect, test } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { deferred } from '../../lib/deferred.ts';
import { Payload } from '../../lib/payload.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { secretSearch } from '../../observe/secret-formats.ts';
import { BUILT_IN_ARGUMENT_RULES } from '../builtin-argument-rules.ts';
import type { Call, Guard } from '../call.ts';
import { argumentRules } from './argument-rules.ts';
import { callerLimit } from './caller-limit.ts';
import { cap } from './cap.ts';
import { redact } from './redact.ts';

const upstream = 'server' as UpstreamName;
const KEY = `ghp_${'a1B2'.repeat(9)}`;

function toolCall(name: string, args: JsonObject, caller = 'local'): Call {
  const params = { name, arguments: args };
  return policyCall({
    caller: { id: caller, via: 'stdio', profile: 'default' },
    operation: { kind: 'tool', upstream, method: 'tools/call', params },
  });
}

/** What arrives at the server, and what comes back. */
async function through(guard: Guard, call: Call, answer: Payload = Payload.of({ content: [] })) {
  const sent: Call[] = [];
  const payload = await guard(call, (passed) => {
    sent.push(passed);
    return Promise.resolve(answer);
  });
  return { payload, sent: sent[0] };
}

describe('the limit of a caller', () => {
  test('holds over all servers, lets some wait and refuses the rest', async () => {
    const guard = callerLimit({ concurrency: 1, waiting: 1, now: () => 0 });
    const answers = [deferred<Payload>(), deferred<Payload>(), deferred<Payload>()];
    const run = (at: number, caller: string): Promise<Payload> =>
      guard(toolCall('t', {}, caller), () => answers[at]!.promise);
    const [first, second] = [run(0, 'ann'), run(1, 'ann')];
    await expect(run(2, 'ann')).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      details: { retryAfterMs: 1000 },
    });
    const other = run(2, 'ben');
    for (const answer of answers) answer.resolve(Payload.of({}));
    await Promise.all([first, second, other]);
    await guard(toolCall('t', {}, 'ann'), () => Promise.resolve(Payload.of({})));
  });
});

describe('size caps', () => {
  const guard = cap(() => ({ argumentBytes: 50, resultBytes: 50 }));

  test('refuse arguments before anything is sent', async () => {
    await expect(through(guard, toolCall('t', { a: 'x'.repeat(60) }))).rejects.toMatchObject({
      code: 'ARGUMENTS_REFUSED',
    });
    expect((await through(guard, toolCall('t', { a: 'x' }))).sent).toBeDefined();
  });

  test('hold large results back, counted in bytes', async () => {
    const large = Payload.ofText(JSON.stringify({ text: 'ä'.repeat(25) }));
    await expect(through(guard, toolCall('t', {}), large)).rejects.toMatchObject({
      code: 'RESULT_TOO_LARGE',
    });
    const small = Payload.ofText('{"a":12345678901234567890}');
    expect((await through(guard, toolCall('t', {}), small)).payload).toBe(small);
  });
});

describe('rules about arguments', () => {
  const builtIn = argumentRules(() => BUILT_IN_ARGUMENT_RULES);

  test.each<[string, JsonObject]>([
    ['run_command', { command: 'rm -rf /' }],
    ['execute_command', { command: 'sudo rm -r -f ~ && echo done' }],
    ['shell', { cmd: 'rm', args: ['rm', '-rf', '/'] }],
    ['bash', { command: 'dd if=/dev/zero of=/dev/sda bs=1M' }],
    ['bash', { script: ':(){ :|:& };:' }],
    ['query', { sql: 'select 1; DROP  DATABASE production' }],
    ['write_file', { path: '/home/ann/.ssh/authorized_keys', content: '' }],
  ])('refuse by default what nobody means: %s %j', async (name, args) => {
    await expect(through(builtIn, toolCall(name, args))).rejects.toMatchObject({ code: 'ARGUMENTS_REFUSED' });
  });

  test.each<[string, JsonObject]>([
    ['run_command', { command: 'rm -rf node_modules dist' }],
    ['run_command', { command: 'rm -rf /tmp/build-1 && ls /' }],
    ['query', { sql: 'DELETE FROM sessions WHERE expired' }],
    ['create_issue', { body: 'Somebody ran rm -rf / and DROP DATABASE x' }],
    ['write_file', { path: 'docs/authorized_keys.md', content: 'rm -rf /' }],
    ['search', { query: 'how does drop database work in postgres?' }],
  ])('let work through: %s %j', async (name, args) => {
    const call = toolCall(name, args);
    expect((await through(builtIn, call)).sent).toBe(call);
  });

  test('of a person are for the arguments, tools and servers they name, and say their message', async () => {
    const rule = {
      id: 'prod',
      tools: ['deploy*'],
      arguments: ['target.env'],
      pattern: '^prod',
      message: 'Ask Ann.',
    };
    const guard = argumentRules(() => [rule]);
    await expect(through(guard, toolCall('deploy_app', { target: { env: 'Production' } }))).rejects.toThrow(
      /"prod" refuses the argument "target\.env".*Ask Ann\./,
    );
    await through(guard, toolCall('deploy_app', { env: 'prod' }));
    await through(guard, toolCall('list', { target: { env: 'prod' } }));
  });

  test.each<[string, unknown]>([
    ['below the argument', { env: { name: { of: 'prod' } } }],
    ['in a list below it', { env: [{ names: ['dev', 'prod'] }] }],
    ['however deep', { env: nested(5000, 'prod') }],
    ['under its name, however deep', nested(5000, { env: 'prod' })],
    ['beside very many others', { env: [...Array.from({ length: 300_000 }, () => 'dev'), { a: 'prod' }] }],
    ['as a number', { env: 42 }],
    ['as a truth value', { env: false }],
  ])('find what they describe %s', async (_, args) => {
    const rule = { id: 'prod', arguments: ['env'], pattern: '^(?:prod|42|false)$' };
    const guard = argumentRules(() => [rule]);
    await expect(through(guard, toolCall('deploy', args as JsonObject))).rejects.toThrow('"prod" refuses');
    await through(guard, toolCall('deploy', { other: ['prod', { b: 'prod', c: 42 }] }));
  });
});

function nested(levels: number, value: unknown): unknown {
  let whole = value;
  for (let level = 0; level < levels; level++) whole = { a: whole };
  return whole;
}

describe('secrets', () => {
  const said: JsonObject[] = [];
  const log = { warn: (_: string, fields: JsonObject) => said.push(fields) } as never;
  const guardOf = (args: 'off' | 'report' | 'mask' | 'block', results: typeof args): Guard =>
    redact({ search: secretSearch(), actionsOf: () => ({ arguments: args, results }), log });

  test('in arguments are reported without being said, once', async () => {
    said.length = 0;
    const guard = guardOf('report', 'off');
    const call = toolCall('t', { deep: [{ note: `key ${KEY}` }] });
    for (let at = 0; at < 3; at++) expect((await through(guard, call)).sent).toBe(call);
    expect(said).toEqual([{ server: 'server', name: 't', where: 'arguments', kinds: ['github-token'] }]);
  });

  test.each<[string, (secret: string) => JsonObject]>([
    ['as the name of a member', (secret) => ({ a: { [secret]: 'x' } })],
    ['very deep', (secret) => ({ a: nested(150, secret) })],
    ['deeper than anybody can look', (secret) => ({ a: nested(200_000, secret) })],
    ['beside a type that would make it an image', (secret) => ({ mimeType: 'image/png', data: secret })],
    ['as what would be a file', (secret) => ({ uri: 'file:///x', blob: secret })],
  ])('are found %s', async (_, hide) => {
    for (const secret of [KEY, 'AKIAIOSFODNN7EXAMPLE']) {
      await expect(through(guardOf('block', 'off'), toolCall('t', hide(secret)))).rejects.toThrow(
        /looks like/,
      );
      const { sent } = await through(guardOf('mask', 'off'), toolCall('t', hide(secret)));
      expect(JSON.stringify(sent?.operation.params)).not.toContain(secret);
    }
  });

  test('are found in a result that writes them with escapes', async () => {
    const text = `{"content":[{"type":"text","text":"${KEY.replace('_', '\\u005f')}"}]}`;
    const { payload } = await through(guardOf('off', 'mask'), toolCall('t', {}), Payload.ofText(text));
    expect(payload.text).toBe('{"content":[{"type":"text","text":"[redacted]"}]}');
  });

  test('are masked both ways, and numbers and binary content stay exact', async () => {
    const guard = guardOf('mask', 'mask');
    // In base64 anything can look like anything, such as a key of AWS.
    const data = `${Buffer.from(KEY.repeat(3)).toString('base64')}AKIAIOSFODNN7EXAMPLE`;
    const text = `{"content":[{"type":"text","text":"a ${KEY} b"},{"type":"image","mimeType":"image/png","data":"${data}"}],"structuredContent":{"id":9223372036854775807,"key":"${KEY}"}}`;
    const { payload, sent } = await through(guard, toolCall('t', { key: KEY, n: 1 }), Payload.ofText(text));
    expect(sent?.operation.params['arguments']).toEqual({ key: '[redacted]', n: 1 });
    expect(payload.text).toBe(
      `{"content":[{"type":"text","text":"a [redacted] b"},{"type":"image","mimeType":"image/png","data":"${data}"}],"structuredContent":{"id":9223372036854775807,"key":"[redacted]"}}`,
    );
  });

  test('are blocked both ways, and the error does not say them', async () => {
    const guard = guardOf('block', 'block');
    const refused: unknown = await through(guard, toolCall('t', { key: KEY })).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 'ARGUMENTS_REFUSED' });
    const held: unknown = await through(guard, toolCall('t', {}), Payload.of({ key: KEY })).catch(
      (e: unknown) => e,
    );
    expect(held).toMatchObject({ code: 'RESULT_BLOCKED' });
    expect(`${String(refused)}${String(held)}${JSON.stringify([refused, held])}`).not.toContain(KEY);
  });

  test('cost nothing where there are none: the very answer is passed on', async () => {
    const answer = Payload.ofText('{"content":[{"type":"text","text":"nothing"}]}');
    const call = toolCall('t', { a: 'nothing' });
    const { payload, sent } = await through(guardOf('mask', 'mask'), call, answer);
    expect(payload).toBe(answer);
    expect(sent).toBe(call);
  });
});
