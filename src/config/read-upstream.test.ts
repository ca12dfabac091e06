import { describe, expect, test } from 'vitest';

import type { Fingerprint } from '../core/ids.ts';
import type { ConfigSnapshot, UpstreamConfig } from './config.ts';
import { validateConfig } from './validate-config.ts';

const file = '/etc/trunkline/config.jsonc';

/** Loads one entry called "it". */
function entry(value: unknown, at = file): ConfigSnapshot {
  const text = JSON.stringify({ mcpServers: { it: value } });
  return validateConfig({ file: at, text, revision: 'revision' as Fingerprint });
}

function upstream(value: unknown, at = file): UpstreamConfig {
  const { value: config, warnings } = entry(value, at);
  expect(warnings).toEqual([]);
  return config.upstreams[0]!;
}

function messages(value: unknown): readonly string[] {
  return entry(value).warnings.map(({ message }) => message);
}

describe('CLI server', () => {
  const usual = { depth: 3, only: [], maxOutput: 1_048_576, tools: [] };

  test('CLI server: uses default settings or the given ones', () => {
    expect(upstream({ command: 'kubectl', cli: true }).transport).toEqual({
      kind: 'cli',
      command: 'kubectl',
      args: [],
      env: {},
      cli: usual,
    });
    const cli = { depth: 1, only: ['config view'], help: '-h' };
    expect(upstream({ command: 'kubectl', cli }).transport).toMatchObject({ cli: { ...usual, ...cli } });
    const one = upstream({ command: 'kubectl', cli: true });
    expect(one.fingerprint).not.toBe(upstream({ command: 'kubectl', cli }).fingerprint);
    expect(one.fingerprint).not.toBe(upstream({ command: 'kubectl' }).fingerprint);
  });

  test('CLI server: rejects invalid settings and says what is wrong', () => {
    const messagesFor = (cli: unknown, rest: object = { command: 'x' }): string =>
      messages({ ...rest, cli }).join('\n');
    expect(messagesFor(false)).toContain('must be true, or an object');
    expect(messagesFor({ dept: 2 })).toContain('did you mean "depth"?');
    expect(messagesFor({ depth: 0 })).toContain('"cli.depth" must be at least 1');
    expect(messagesFor({ only: ['--all'] })).toContain('must be a subcommand');
    expect(messagesFor({ tools: [{ name: 'a' }, { name: 'a' }] })).toContain('there are two tools "a"');
    expect(messagesFor({ tools: [{ name: 'a', parameters: { p: { type: 'boolean' } } }] })).toContain(
      'needs "flag"',
    );
    expect(messagesFor(true, { url: 'https://a.example' })).toContain('"cli" needs "command"');
  });
});

describe('server entry', () => {
  test('server entry: fills in the defaults for a stdio server', () => {
    expect(upstream({ command: 'npx', args: ['-y', 'x'], env: { A: '${env:B}' } })).toEqual({
      name: 'it',
      fingerprint: expect.stringMatching(/^[\w-]{22}$/) as unknown,
      startFingerprint: expect.stringMatching(/^[\w-]{22}$/) as unknown,
      enabled: true,
      tags: [],
      share: 'all',
      trust: 'first-sight',
      era: 'auto',
      transport: { kind: 'stdio', command: 'npx', args: ['-y', 'x'], env: { A: '${env:B}' } },
      idle: 'adaptive',
      timeouts: { connectMs: 30_000, callMs: 120_000 },
      limits: {
        concurrency: 64,
        waiting: 1024,
        sessions: 10,
        rate: 0,
        argumentBytes: 0,
        resultBytes: 0,
        isFleetWide: false,
      },
      redact: { arguments: 'report', results: 'off' },
      hasArgumentRules: true,
      passedMeta: [],
      tools: { allow: ['*'], deny: [], tiers: {}, describe: {}, select: {}, alwaysLoad: false },
    });
  });

  test.each([
    [undefined, 'auto'],
    ['http', 'streamable'],
    ['streamable-http', 'streamable'],
    ['streamableHttp', 'streamable'],
    ['sse', 'sse'],
  ])('server entry: selects the HTTP transport for type %s', (type, flavour) => {
    const headers = { 'X-Key': '${KEY}' };
    const { transport } = upstream({ url: 'https://example.com/mcp', headers, ...(type && { type }) });
    expect(transport).toEqual({ kind: 'http', url: 'https://example.com/mcp', headers, flavour });
  });

  test('server entry: inherits unset values from the top level', () => {
    const text = JSON.stringify({
      idle: 'never',
      timeouts: { connect: '1s', call: '2s' },
      limits: { concurrency: 1, waiting: 0 },
      mcpServers: {
        a: { command: 'x' },
        b: { command: 'x', idle: '90s', timeouts: { call: '3s' }, limits: { waiting: 5 } },
      },
    });
    const { value } = validateConfig({ file, text, revision: 'revision' as Fingerprint });
    const [a, b] = value.upstreams;
    expect(a).toMatchObject({
      idle: 'never',
      timeouts: { connectMs: 1000, callMs: 2000 },
      limits: { concurrency: 1, waiting: 0, sessions: 10 },
    });
    expect(b).toMatchObject({
      idle: 90_000,
      timeouts: { connectMs: 1000, callMs: 3000 },
      limits: { concurrency: 1, waiting: 5, sessions: 10 },
    });
  });

  test('server entry: resolves folders and files against the config folder', () => {
    const at = (value: object, config = file) => {
      const { transport } = upstream({ command: 'x', ...value }, config);
      return transport.kind === 'stdio' ? [transport.cwd, transport.envFile] : [];
    };
    expect(at({ cwd: '.', envFile: '../x.env' })).toEqual(['/etc/trunkline', '/etc/x.env']);
    expect(at({ cwd: '/srv' })).toEqual(['/srv', undefined]);
    expect(at({ cwd: '~/x', envFile: 'a/${env:B}' })).toEqual(['~/x', 'a/${env:B}']);
    expect(at({ cwd: 'sub' }, '/odd/${x}/config.jsonc')).toEqual(['/odd/$${x}/sub', undefined]);
  });

  test('fingerprint: depends on transport and era only', () => {
    const of = (value: object) => upstream(value).fingerprint;
    const first = of({ command: 'x', env: { A: '1', B: '2' } });
    expect(of({ env: { B: '2', A: '1' }, command: 'x', tags: ['t'], idle: 'never', timeout: 5000 })).toBe(
      first,
    );
    expect(of({ command: 'x', env: { A: '1', B: '3' } })).not.toBe(first);
    expect(of({ command: 'x', env: { A: '1', B: '2' }, era: 'legacy' })).not.toBe(first);
  });

  test('start fingerprint: also depends on settings for signing in, and without any equals the fingerprint', () => {
    const at = (auth?: object) => upstream({ url: 'https://x.example/mcp', auth });
    expect(at().startFingerprint).toBe(at().fingerprint);
    const one = at({ clientId: 'a', issuer: 'https://a.example' });
    expect(one.fingerprint).toBe(at().fingerprint);
    expect(one.startFingerprint).not.toBe(one.fingerprint);
    expect(at({ clientId: 'a', issuer: 'https://b.example' }).startFingerprint).not.toBe(
      one.startFingerprint,
    );
  });

  test('server entry: can be disabled with "enabled" or "disabled"', () => {
    for (const off of [{ enabled: false }, { disabled: true }, { enabled: false, disabled: true }]) {
      const snapshot = entry({ command: 'x', ...off });
      expect(snapshot.value.upstreams).toEqual([]);
      expect(snapshot.disabled).toEqual(['it']);
      expect(snapshot.warnings).toEqual([]);
    }
    expect(upstream({ command: 'x', disabled: false }).enabled).toBe(true);
    expect(messages({ command: 'x', enabled: true, disabled: true })[0]).toContain('contradict');
  });

  test('server entry: sends authorizationToken as a bearer token unless a header is set', () => {
    const headers = (value: object) => {
      const { transport } = upstream({ url: 'https://x.example', ...value });
      return transport.kind === 'http' ? transport.headers : {};
    };
    expect(headers({ authorizationToken: '${T}' })).toEqual({ Authorization: 'Bearer ${T}' });
    const own = { authorization: 'Basic x' };
    expect(headers({ authorizationToken: 't', headers: own })).toEqual(own);
  });

  test('server entry: accepts a timeout in milliseconds, as other clients write it', () => {
    expect(upstream({ command: 'x', timeout: 5000 }).timeouts.callMs).toBe(5000);
    expect(upstream({ command: 'x', timeout: 5000, timeouts: { call: '9s' } }).timeouts.callMs).toBe(9000);
  });

  test('server entry: reports a timeout that can only be in seconds and uses the default', () => {
    const { value, warnings } = entry({ command: 'x', timeout: 60 });
    expect(value.upstreams[0]!.timeouts.callMs).toBe(120_000);
    expect(warnings[0]!.message).toContain('write "timeouts": { "call": "60s" }');
    expect(warnings[0]!.path).toBe('mcpServers.it.timeout');
  });

  test('server entry: reports keys without effect and still works', () => {
    expect(messages({ url: 'http://x', env: { A: '1' }, args: [] })).toEqual([
      'server "it": "env" has no effect without "command"',
    ]);
    expect(messages({ command: 'x', headers: { A: '1' } })).toEqual([
      'server "it": "headers" has no effect without "url"',
    ]);
    expect(entry({ url: 'http://x', env: { A: '1' } }).value.upstreams).toHaveLength(1);
  });

  test.each([
    [{}, 'it needs "command" (a program to start) or "url" (the URL of a server)'],
    [{ command: 'x', url: 'http://x' }, 'it has both "command" and "url"'],
    [{ url: 'http://x', serverUrl: 'http://x' }, 'it has both "url" and "serverUrl"'],
    [{ url: 'http://x', type: 'stdio' }, '"type": "stdio" needs "command"'],
    [{ command: 'x', type: 'sse' }, '"type": "sse" needs "url"'],
    [{ command: '' }, '"command" must not be empty'],
    [{ command: 'x', watchPaths: ['y'] }, '`trunkline import` converts the entries of other clients'],
    [{ command: 'x', comand: 'y' }, '"comand" is not a known key; did you mean "command"?'],
    [{ command: 'x', timeouts: { cal: 1 } }, '"timeouts.cal" is not a known key; did you mean "call"?'],
    [{ command: 'x', args: ['a', 1] }, '"args[1]" must be a string, found a number'],
    [{ command: 'x', env: { PORT: 80 } }, '"env.PORT" must be a string, found a number'],
    [{ command: 'x', env: { 'A=B': 'x' } }, 'is not a valid name of an environment variable'],
    [{ url: 'http://x', headers: { 'A B': 'x' } }, 'is not a valid HTTP header name'],
    [{ command: 'x', share: 'none' }, '"share" must be "all" or "session" or "fleet", found "none"'],
    [{ command: 'x', idle: 'maybe' }, '"idle" must be "adaptive", "never" or a duration'],
    [{ url: 'example.com/mcp' }, '"url" must be a URL that begins with http:// or https://'],
    [{ url: 'file:///etc/passwd' }, '"url" must be a URL'],
    [{ command: 'x', args: ['${input:key}'] }, '${input:…} is not a kind of reference'],
    [{ command: 'x', env: { A: '${B' } }, 'is not closed'],
    ['npx', 'it must be an object, found "npx"'],
    [null, 'it must be an object, found null'],
  ])('server entry: is omitted with a warning for %j', (value, message) => {
    const { value: config, warnings } = entry(value);
    expect(config.upstreams).toEqual([]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]!.message).toContain('server "it" is left out: ');
    expect(warnings[0]!.message).toContain(message);
  });
});
