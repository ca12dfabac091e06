import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { GatewayError } from '../core/errors.ts';
import type { Fingerprint } from '../core/ids.ts';
import type { ConfigSnapshot } from './config.ts';
import { validateConfig, validateSteps } from './validate-config.ts';

const file = '/etc/trunkline/config.jsonc';

function validate(text: string): ConfigSnapshot {
  return validateConfig({ file, text, revision: 'revision' as Fingerprint });
}

function failureOf(text: string): GatewayError {
  try {
    validate(text);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

/** Returns line and path of each reported problem. */
function placesOf({ details }: GatewayError): readonly (readonly [line: number, path: string])[] {
  const problems = details['problems'] as readonly { readonly line: number; readonly path: string }[];
  return problems.map(({ line, path }) => [line, path]);
}

describe('settings', () => {
  test('settings: have a default for everything', () => {
    expect(validate('{}')).toEqual({
      file,
      revision: 'revision',
      disabled: [],
      unusable: [],
      warnings: [],
      value: {
        upstreams: [],
        names: { separator: '__' },
        expose: { kind: 'auto', directBudget: 4000, shape: true, pin: [], callTools: 'tiers', reveal: false },
        http: {
          address: '127.0.0.1:7332',
          allowedHosts: [],
          allowedOrigins: [],
          maxSessions: 1000,
          sessionIdleMs: 1_800_000,
          maxBodyBytes: 16_777_216,
          drainMs: 0,
        },
        results: {
          maxTokens: 4_000,
          compact: true,
          learnShapes: true,
          keepMs: 1_800_000,
          maxBytes: 67_108_864,
        },
        code: {
          timeoutMs: 120_000,
          cpuMs: 10_000,
          memoryMb: 64,
          maxCalls: 200,
          maxOutput: 200_000,
          maxScripts: 4,
        },
        audit: {
          enabled: true,
          keepMs: 7_776_000_000,
          maxBytes: 268_435_456,
          arguments: false,
          results: false,
          chain: false,
        },
        telemetry: { headers: {}, intervalMs: 10_000 },
        metrics: false,
        management: false,
        readOnly: false,
        callerLimits: { rate: 0, concurrency: 0, waiting: 1024, isFleetWide: false },
        redact: { arguments: 'report', results: 'off', entropy: false, patterns: {} },
        argumentRules: [],
        guards: [],
        profiles: {},
        policy: { default: 'allow', rules: [], ask: { by: ['person'], waitMs: 120_000 } },
        search: { usage: true },
        storage: { poolSize: 10, connectTimeoutMs: 5000, statementTimeoutMs: 15_000 },
        fleet: {},
        startup: { listWaitMs: 950, refreshMs: 30_000 },
        maxCallMs: 3_600_000,
        shutdownMs: 5000,
        idleExitMs: 900_000,
        log: { level: 'info' },
      },
    });
  });

  test('settings: keep the other defaults when one value is set', () => {
    const { value } = validate('{ "http": { "address": "[::1]:0" }, "startup": { "refresh": 250 } }');
    expect(value.http).toMatchObject({ address: '[::1]:0', maxSessions: 1000 });
    expect(value.startup).toEqual({ listWaitMs: 950, refreshMs: 250 });
  });

  test('settings: are deeply frozen', () => {
    const snapshot = validate('{ "mcpServers": { "a": { "command": "x", "args": ["y"] } } }');
    expect(Object.isFrozen(snapshot.value.http)).toBe(true);
    const { transport } = snapshot.value.upstreams[0]!;
    expect(transport.kind === 'stdio' && Object.isFrozen(transport.args)).toBe(true);
  });

  test.each([
    ['{ "shutdown": "5 s" }', 'shutdown', '"shutdown" must be a duration such as'],
    ['{ "shutdown": -1 }', 'shutdown', '"shutdown" must be at least 0'],
    ['{ "shutdown": "600h" }', 'shutdown', 'at most 24 days'],
    ['{ "timeouts": { "call": "0s" } }', 'timeouts.call', 'must be at least 1 ms'],
    ['{ "timeouts": { "call": 0 } }', 'timeouts.call', 'must be at least 1'],
    ['{ "idle": "sometimes" }', 'idle', '"idle" must be "adaptive", "never" or a duration'],
    [
      '{ "log": { "level": "loud" } }',
      'log.level',
      'must be "debug" or "info" or "warn" or "error", found "loud"',
    ],
    ['{ "http": { "maxSessions": 1.5 } }', 'http.maxSessions', 'must be a whole number, found a number'],
    ['{ "http": { "maxSessions": 0 } }', 'http.maxSessions', 'must be at least 1'],
    ['{ "http": { "address": "localhost" } }', 'http.address', 'must be a host and a port'],
    ['{ "http": { "address": "localhost:65536" } }', 'http.address', 'must be a host and a port'],
    ['{ "http": { "allowedHosts": "x" } }', 'http.allowedHosts', 'must be an array, found "x"'],
    ['{ "http": null }', 'http', '"http" must be an object, found null'],
    ['{ "names": { "separator": "::" } }', 'names.separator', 'must be 1 to 8 letters'],
    ['{ "expose": { "kind": "list" } }', 'expose.kind', 'must be "auto" or "direct" or "search" or "code"'],
    ['{ "code": { "memoryMb": 4 } }', 'code.memoryMb', 'must be at least 20'],
    ['{ "expose": { "directBudget": -1 } }', 'expose.directBudget', 'must be at least 0'],
    ['{ "mcpServers": [] }', 'mcpServers', '"mcpServers" must be an object, found an array'],
    ['{ "search": { "rerank": {"url": "x", "model": "m"} } }', 'search.rerank.url', 'begins with http://'],
    [
      '{ "search": { "rerank": {"url": "http://x", "model": "m", "apiKey": "${env:A"} } }',
      'search.rerank.apiKey',
      'is not closed',
    ],
  ])('settings: reject %s', (text, path, message) => {
    const error = failureOf(text);
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.details).toMatchObject({ file, line: 1, path });
    expect(error.message).toContain(message);
    expect(error.message).toMatch(/^\/etc\/trunkline\/config\.jsonc:1:\d+: /);
  });

  test('settings: suggest a similar key for an unknown one', () => {
    expect(failureOf('{ "servers": {} }').message).toContain(
      '"servers" is not a known key; did you mean "mcpServers"?',
    );
    const error = failureOf('{\n  "http": {\n    "adress": "x"\n  }\n}');
    expect(error.message).toContain('"http.adress" is not a known key; did you mean "address"?');
    expect(error.details).toMatchObject({ line: 3, column: 5, path: 'http.adress' });
    expect(failureOf('{ "zebra": 1 }').message).toMatch(/"zebra" is not a known key$/);
  });

  test('settings: report all problems at once with their positions', () => {
    const error = failureOf('{\n"zebra": 1,\n"shutdown": "x"\n}');
    expect(error.message.split('\n')).toHaveLength(2);
    expect(error.message).toContain(':2:1: "zebra"');
    expect(error.message).toContain(':3:13: "shutdown"');
  });

  test('settings: report problems of server entries along with fatal ones', () => {
    const text =
      '{\n"mcpServers": { "a": { "comand": "x" } },\n"zebra": 1,\n"log": { "level": 1, "level": "x" }\n}';
    expect(placesOf(failureOf(text))).toEqual([
      [3, 'zebra'],
      [4, 'log.level'],
      [4, 'log.level'],
      [2, 'mcpServers.a.comand'],
    ]);
    const stranger =
      '{\n"mcpServers": { "a": { "comand": "x" } },\n"profiles": { "p": { "servers": ["nobody"] } }\n}';
    expect(placesOf(failureOf(stranger)).map(([line]) => line)).toEqual([3, 2]);
  });

  test('settings: report at most 20 problems', () => {
    const keys = Array.from({ length: 500 }, (_, at) => `"z${at}": 1`);
    const lines = failureOf(`{${keys.join(',\n')}}`).message.split('\n');
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe(`${file}: … and 480 more`);
  });

  test('settings: reject duplicate keys', () => {
    const error = failureOf('{ "mcpServers": {},\n  "mcpServers": {} }');
    expect(error.message).toContain('"mcpServers" is written twice');
    expect(failureOf('{ "log": { "level": "info", "level": "warn" } }').message).toContain('"log.level"');
  });
});

describe('config text', () => {
  test.each([
    ['{\n"log": {},\n"http": {}\n"code": {}\n"search": {} }', [4, 5]],
    ['{\n"log" {},\n"http": {},\ncode: {},\n"search": {} }', [2]],
    ['{\n"log": {}\n"http": { "address": "\\q" }\n"code" {}\n"search" {} }', [3, 3, 4, 4]],
    ['{\n"log: {},\n"http": {} }', [2]],
    ['{\n"mcpServers": { "a": { "command": "x, "args": [] },\n"b": { "command": "y" } } }', [2]],
    ['{\n\'log\': {},\n"http": {} }', [2]],
    ['{\n"log": {', [2]],
  ])('config text: reports syntax errors line by line for %j', (text, lines) => {
    const error = failureOf(text);
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message.split('\n').map((line) => Number(line.split(':')[1]))).toEqual(lines);
  });

  test('config text: allows comments, trailing commas and CRLF', () => {
    const text =
      '// head\r\n{ /* why */ "mcpServers": {\r\n "a": { "command": "x", "args": ["y",], },\r\n}, }\r\n';
    expect(validate(text).value.upstreams).toHaveLength(1);
  });

  test('config text: keeps comment-like text and every character inside strings', () => {
    const text =
      '{ "mcpServers": { "größe": { "url": "https://x.example/*ä*/日本" /* Ärger // */ } } } // 終';
    expect(validate(text).value.upstreams).toMatchObject([
      { name: 'größe', transport: { url: 'https://x.example/*ä*/日本' } },
    ]);
  });

  test.each([
    ['', 1, 1, 'the file is empty'],
    ['  \n', 2, 1, 'the file is empty'],
    ['[]', 1, 1, 'must hold an object'],
    ['{\n  "mcpServers": {\n', 3, 1, 'a closing brace } is missing'],
    ['{\n  "mcpServers": {} "log": {}\n}', 2, 20, 'a comma is missing before this'],
    ["{ 'log': {} }", 1, 3, 'is not a JSON value; strings need double quotes'],
    ['{ "log" {} }', 1, 9, 'a colon is missing before this'],
    ['{ "log": }', 1, 10, 'a value is expected here'],
    ['{} {}', 1, 4, 'the document ends before this'],
    ['{ "a": "x', 1, 8, 'a string is not closed'],
    ['{ "a": "C:\\Users" }', 1, 8, 'a backslash itself is written \\\\'],
  ])('config text: reports the first error of %j with its position', (text, line, column, message) => {
    const error = failureOf(text);
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain(message);
    expect(error.details).toMatchObject({ file, line, column });
  });

  test('config text: yields a snapshot or CONFIG_INVALID for any input', () => {
    const json = fc.json().map((text) => `{ "mcpServers": { "a": ${text}, "b": ${text} }, "http": ${text} }`);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), json), (text) => {
        try {
          validate(text);
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
          expect((error as GatewayError).code).toBe('CONFIG_INVALID');
        }
      }),
    );
  });
});

describe('server entries', () => {
  test('server entry: is omitted with its position when invalid, while the others are used', () => {
    const text = `{
  "mcpServers": {
    "good": { "command": "x" },
    "bad one": {
      "command": "x",
      "args": ["a", 1],
      "comand": "y"
    },
    "fine": { "url": "https://example.com" }
  }
}`;
    const { value, warnings } = validate(text);
    expect(value.upstreams.map(({ name }) => name)).toEqual(['good', 'fine']);
    expect(warnings).toEqual([
      {
        file,
        line: 6,
        column: 21,
        path: 'mcpServers["bad one"].args[1]',
        message: 'server "bad one" is left out: "args[1]" must be a string, found a number',
      },
      {
        file,
        line: 7,
        column: 7,
        path: 'mcpServers["bad one"].comand',
        message: 'server "bad one" is left out: "comand" is not a known key; did you mean "command"?',
      },
    ]);
  });

  test('server entry: counts once, in its last form, when it appears twice', () => {
    const { value, warnings } = validate(
      '{ "mcpServers": {\n"a": { "command": "one" },\n"b": { "command": "b" },\n"a": { "command": "two" } } }',
    );
    const commands = value.upstreams.map(({ transport }) => transport.kind === 'stdio' && transport.command);
    expect(commands).toEqual(['two', 'b']);
    expect(warnings).toEqual([
      {
        file,
        line: 2,
        column: 1,
        path: 'mcpServers.a',
        message: '"mcpServers.a" is written twice; the last one is used',
      },
    ]);
  });

  test('server entry: reports both positions of a duplicate when the second is invalid', () => {
    const { warnings } = validate('{ "mcpServers": {\n"a": { "command": "x" },\n"a": { "command": 1 } } }');
    expect(warnings.map(({ line }) => line)).toEqual([2, 3]);
  });

  test('server entry: takes the last of duplicate keys and reports problems at its position', () => {
    const { warnings } = validate(
      '{ "mcpServers": { "a": {\n"command": "x",\n"args": ["ok"],\n"args": [1],\n"zebra": 1,\n"zebra": 2 } } }',
    );
    expect(warnings.map(({ line, path, message }) => [line, path, message.includes('twice')])).toEqual([
      [3, 'mcpServers.a.args', true],
      [4, 'mcpServers.a.args[0]', false],
      [5, 'mcpServers.a.zebra', true],
      [6, 'mcpServers.a.zebra', false],
    ]);
  });

  test('server entry: may have any printable name of up to 128 characters', () => {
    for (const name of ['my server', 'é.🙂', '__proto__', 'constructor', 'a'.repeat(128)]) {
      const snapshot = validate(`{ "mcpServers": { ${JSON.stringify(name)}: { "command": "x" } } }`);
      expect(snapshot.warnings).toEqual([]);
      expect(snapshot.value.upstreams.map((found) => found.name)).toEqual([name]);
    }
    for (const name of ['', 'a\nb', '\u0085', 'a'.repeat(129)]) {
      const snapshot = validate(`{ "mcpServers": { ${JSON.stringify(name)}: { "command": "x" } } }`);
      expect(snapshot.value.upstreams).toEqual([]);
      expect(snapshot.warnings[0]!.message).toContain('is left out: its name ');
    }
  });
});

test('problem report: does not reveal values that may be secrets', () => {
  const entry = { command: 'a', env: 'TOKEN=sk-planted', headers: 'Authorization: sk-planted' };
  const { warnings } = validate(JSON.stringify({ mcpServers: { a: entry } }));
  expect(warnings.length).toBeGreaterThan(1);
  expect(JSON.stringify(warnings)).not.toContain('sk-planted');
  expect(failureOf('{ "telemetry": { "headers": "sk-planted" } }').message).not.toContain('sk-planted');
  // A value that cannot be a secret is shown.
  expect(failureOf('{ "metrics": "yes" }').message).toContain('"yes"');
});

test('config: takes a step for each server, so that a large file does not block the event loop', () => {
  const mcpServers = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`s${at}`, { command: 'a' }]));
  const text = JSON.stringify({ mcpServers });
  const steps = [...validateSteps({ file: '/config.json', text, revision: 'r' as Fingerprint })];
  expect(steps.length).toBeGreaterThanOrEqual(100);
});
