import { describe, expect, test } from 'vitest';

import { policyCall } from '../../../test/support/policy-call.ts';
import { deferred } from '../../core/lib/deferred.ts';
import { RpcError } from '../../core/errors.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import { createSecretSearch } from '../../observability/secret-formats.ts';
import { BUILT_IN_ARGUMENT_RULES } from './builtin-argument-rules.ts';
import type { Call, Guard } from '../guard.ts';
import { argumentRulesGuard } from './argument-rules-guard.ts';
import { callerConcurrencyGuard } from './concurrency-guards.ts';
import { sizeLimitGuard } from './validation-guards.ts';
import { redactionGuard } from './redaction-guard.ts';

const upstream = 'server' as UpstreamName;
const KEY = `ghp_${'a1B2'.repeat(9)}`;

function toolCall(name: string, args: JsonObject, caller = 'local'): Call {
  const params = { name, arguments: args };
  return policyCall({
    caller: { id: caller, via: 'stdio', profile: 'default' },
    operation: { kind: 'tool', upstream, method: 'tools/call', params },
  });
}

/** Returns the call that the server receives and the payload that comes back. */
async function run(guard: Guard, call: Call, answer: Payload = Payload.of({ content: [] })) {
  let sent: Call | undefined;
  const payload = await guard(call, (received) => {
    sent = received;
    return Promise.resolve(answer);
  });
  return { payload, sent };
}

describe('caller limit', () => {
  test('caller limit: applies across servers, queues some calls and rejects the rest', async () => {
    const guard = callerConcurrencyGuard({ concurrency: 1, waiting: 1, now: () => 0 });
    const answers = [deferred<Payload>(), deferred<Payload>(), deferred<Payload>()];
    const callAs = (caller: string, at: number): Promise<Payload> =>
      guard(toolCall('t', {}, caller), () => answers[at]!.promise);
    const [first, second] = [callAs('ann', 0), callAs('ann', 1)];
    await expect(callAs('ann', 2)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      details: { retryAfterMs: 1000 },
    });
    const other = callAs('ben', 2);
    for (const answer of answers) answer.resolve(Payload.of({}));
    await Promise.all([first, second, other]);
    await guard(toolCall('t', {}, 'ann'), () => Promise.resolve(Payload.of({})));
  });
});

describe('size limits', () => {
  const guard = sizeLimitGuard(() => ({ argumentBytes: 50, resultBytes: 50 }));

  test('size limit: rejects large arguments before anything is sent', async () => {
    await expect(run(guard, toolCall('t', { a: 'x'.repeat(60) }))).rejects.toMatchObject({
      code: 'ARGUMENTS_REFUSED',
    });
    expect((await run(guard, toolCall('t', { a: 'x' }))).sent).toBeDefined();
  });

  test('size limit: rejects large results, measured in bytes', async () => {
    const large = Payload.ofText(JSON.stringify({ text: 'ä'.repeat(25) }));
    await expect(run(guard, toolCall('t', {}), large)).rejects.toMatchObject({
      code: 'RESULT_TOO_LARGE',
    });
    const small = Payload.ofText('{"a":12345678901234567890}');
    expect((await run(guard, toolCall('t', {}), small)).payload).toBe(small);
  });
});

describe('argument rules', () => {
  const builtIn = argumentRulesGuard(() => BUILT_IN_ARGUMENT_RULES);

  test.each<[string, JsonObject]>([
    ['run_command', { command: 'rm -rf /' }],
    ['execute_command', { command: 'sudo rm -r -f ~ && echo done' }],
    ['shell', { cmd: 'rm', args: ['rm', '-rf', '/'] }],
    ['bash', { command: 'dd if=/dev/zero of=/dev/sda bs=1M' }],
    ['bash', { script: ':(){ :|:& };:' }],
    ['query', { sql: 'select 1; DROP  DATABASE production' }],
    ['write_file', { path: '/home/ann/.ssh/authorized_keys', content: '' }],
  ])('argument rules: reject dangerous arguments by default: %s %j', async (name, args) => {
    await expect(run(builtIn, toolCall(name, args))).rejects.toMatchObject({ code: 'ARGUMENTS_REFUSED' });
  });

  test.each<[string, JsonObject]>([
    ['run_command', { command: 'rm -rf node_modules dist' }],
    ['run_command', { command: 'rm -rf /tmp/build-1 && ls /' }],
    ['query', { sql: 'DELETE FROM sessions WHERE expired' }],
    ['create_issue', { body: 'Somebody ran rm -rf / and DROP DATABASE x' }],
    ['write_file', { path: 'docs/authorized_keys.md', content: 'rm -rf /' }],
    ['search', { query: 'how does drop database work in postgres?' }],
  ])('argument rules: allow ordinary work: %s %j', async (name, args) => {
    const call = toolCall(name, args);
    expect((await run(builtIn, call)).sent).toBe(call);
  });

  test('argument rules: apply to the configured tools and arguments with their message', async () => {
    const rule = {
      id: 'prod',
      tools: ['deploy*'],
      arguments: ['target.env'],
      pattern: '^prod',
      message: 'Ask Ann.',
    };
    const guard = argumentRulesGuard(() => [rule]);
    await expect(run(guard, toolCall('deploy_app', { target: { env: 'Production' } }))).rejects.toThrow(
      /"prod" refuses the argument "target\.env".*Ask Ann\./,
    );
    await run(guard, toolCall('deploy_app', { env: 'prod' }));
    await run(guard, toolCall('list', { target: { env: 'prod' } }));
  });

  test.each<[string, unknown]>([
    ['nested in the argument', { env: { name: { of: 'prod' } } }],
    ['in a list in the argument', { env: [{ names: ['dev', 'prod'] }] }],
    ['at a depth of 5,000', { env: nested(5000, 'prod') }],
    ['of the argument at a depth of 5,000', nested(5000, { env: 'prod' })],
    ['among 300,000 others', { env: [...Array.from({ length: 300_000 }, () => 'dev'), { a: 'prod' }] }],
    ['that is a number', { env: 42 }],
    ['that is a boolean', { env: false }],
  ])('argument rules: find a value %s', async (_, args) => {
    const rule = { id: 'prod', arguments: ['env'], pattern: '^(?:prod|42|false)$' };
    const guard = argumentRulesGuard(() => [rule]);
    await expect(run(guard, toolCall('deploy', args as JsonObject))).rejects.toThrow('"prod" refuses');
    await run(guard, toolCall('deploy', { other: ['prod', { b: 'prod', c: 42 }] }));
  });
});

function nested(levels: number, value: unknown): unknown {
  let result = value;
  for (let level = 0; level < levels; level++) result = { a: result };
  return result;
}

describe('secret redaction', () => {
  const logged: JsonObject[] = [];
  const log = { warn: (_: string, fields: JsonObject) => logged.push(fields) } as never;
  const guardOf = (args: 'off' | 'report' | 'mask' | 'block', results: typeof args): Guard =>
    redactionGuard({ search: createSecretSearch(), actionsOf: () => ({ arguments: args, results }), log });

  test('secret redaction: reports secrets in arguments once, without their values', async () => {
    logged.length = 0;
    const guard = guardOf('report', 'off');
    const call = toolCall('t', { deep: [{ note: `key ${KEY}` }] });
    for (let at = 0; at < 3; at++) expect((await run(guard, call)).sent).toBe(call);
    expect(logged).toEqual([{ server: 'server', name: 't', where: 'arguments', kinds: ['github-token'] }]);
  });

  test.each<[string, (secret: string) => JsonObject]>([
    ['in a property name', (secret) => ({ a: { [secret]: 'x' } })],
    ['at a depth of 150', (secret) => ({ a: nested(150, secret) })],
    ['at a depth of 200,000', (secret) => ({ a: nested(200_000, secret) })],
    ['in data beside an image MIME type', (secret) => ({ mimeType: 'image/png', data: secret })],
    ['in a blob beside a URI', (secret) => ({ uri: 'file:///x', blob: secret })],
  ])('secret redaction: finds a secret %s', async (_, hide) => {
    for (const secret of [KEY, 'AKIAIOSFODNN7EXAMPLE']) {
      await expect(run(guardOf('block', 'off'), toolCall('t', hide(secret)))).rejects.toThrow(/looks like/);
      const { sent } = await run(guardOf('mask', 'off'), toolCall('t', hide(secret)));
      expect(JSON.stringify(sent?.operation.params)).not.toContain(secret);
    }
  });

  test('secret redaction: finds a secret written with JSON escapes in a result', async () => {
    const text = `{"content":[{"type":"text","text":"${KEY.replace('_', '\\u005f')}"}]}`;
    const { payload } = await run(guardOf('off', 'mask'), toolCall('t', {}), Payload.ofText(text));
    expect(payload.text).toBe('{"content":[{"type":"text","text":"[redacted]"}]}');
  });

  test('secret redaction: masks arguments and results, and keeps numbers and binary data exact', async () => {
    const guard = guardOf('mask', 'mask');
    // Base64 may contain anything by chance, such as the pattern of an AWS key.
    const data = `${Buffer.from(KEY.repeat(3)).toString('base64')}AKIAIOSFODNN7EXAMPLE`;
    const text = `{"content":[{"type":"text","text":"a ${KEY} b"},{"type":"image","mimeType":"image/png","data":"${data}"}],"structuredContent":{"id":9223372036854775807,"key":"${KEY}"}}`;
    const { payload, sent } = await run(guard, toolCall('t', { key: KEY, n: 1 }), Payload.ofText(text));
    expect(sent?.operation.params['arguments']).toEqual({ key: '[redacted]', n: 1 });
    expect(payload.text).toBe(
      `{"content":[{"type":"text","text":"a [redacted] b"},{"type":"image","mimeType":"image/png","data":"${data}"}],"structuredContent":{"id":9223372036854775807,"key":"[redacted]"}}`,
    );
  });

  test('secret redaction: blocks arguments and results without quoting the secret', async () => {
    const guard = guardOf('block', 'block');
    const refused: unknown = await run(guard, toolCall('t', { key: KEY })).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'ARGUMENTS_REFUSED' });
    const blocked: unknown = await run(guard, toolCall('t', {}), Payload.of({ key: KEY })).catch(
      (e: unknown) => e,
    );
    expect(blocked).toMatchObject({ code: 'RESULT_BLOCKED' });
    expect(`${String(refused)}${String(blocked)}${JSON.stringify([refused, blocked])}`).not.toContain(KEY);
  });

  test('secret redaction: searches large arguments in several turns of the event loop', async () => {
    const search = createSecretSearch();
    let searched = 0;
    const mayContain = (text: string): boolean => {
      searched++;
      return search.mayContain(text);
    };
    const guard = redactionGuard({
      search: { ...search, mayContain },
      actionsOf: () => ({ arguments: 'block', results: 'off' }),
      log,
    });
    const list = Array.from({ length: 100_000 }, () => 'not a secret');
    const call = toolCall('t', { list });
    const running = run(guard, call);
    expect(searched).toBeLessThanOrEqual(10_000);
    expect((await running).sent).toBe(call);
    await expect(run(guard, toolCall('t', { list: [...list, KEY] }))).rejects.toThrow(/looks like/);
  });

  test('secret redaction: masks or blocks error responses of a server, too', async () => {
    const body = { code: -32603, message: `No: ${KEY}`, data: { key: KEY, count: 1 } };
    const fail = (error: Error) => (): Promise<Payload> => Promise.reject(error);
    const call = toolCall('t', {});
    await expect(guardOf('off', 'mask')(call, fail(new RpcError(body)))).rejects.toMatchObject({
      message: 'No: [redacted]',
      body: { code: -32603, message: 'No: [redacted]', data: { key: '[redacted]', count: 1 } },
    });
    await expect(guardOf('off', 'block')(call, fail(new RpcError(body)))).rejects.toMatchObject({
      code: 'RESULT_BLOCKED',
    });
    const harmless = new RpcError({ code: -32603, message: 'No.' });
    await expect(guardOf('off', 'mask')(call, fail(harmless))).rejects.toBe(harmless);
  });

  test('secret redaction: passes calls and results without secrets through unchanged', async () => {
    const answer = Payload.ofText('{"content":[{"type":"text","text":"nothing"}]}');
    const call = toolCall('t', { a: 'nothing' });
    const { payload, sent } = await run(guardOf('mask', 'mask'), call, answer);
    expect(payload).toBe(answer);
    expect(sent).toBe(call);
  });
});
