import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { GatewayError } from '../core/errors.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { TransportConfig } from './config.ts';
import { ProgramFailure, readReferenceCommand, runReferenceCommand } from './reference-command.ts';
import {
  escapeReferences,
  type Reference,
  findReferenceProblem,
  createReferenceReader,
  resolveReferences,
} from './resolve-references.ts';
import { resolveTransport } from './resolve-transport.ts';

const field = { server: 'github', field: 'env.TOKEN' };

function revealWith(text: string, values: Readonly<Record<string, string>>): Promise<string> {
  return resolveReferences(text, { ...field, read: ({ name }) => Promise.resolve(values[name]) });
}

async function failureOf(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof GatewayError) return error;
  throw new Error('it did not fail as expected', { cause: error });
}

describe('references in a text', () => {
  test('reference: replaces ${NAME} and ${env:NAME} anywhere in a text', async () => {
    expect(await revealWith('a ${env:X}${Y} b', { X: '1', Y: '2' })).toBe('a 12 b');
    expect(await revealWith('no reference $X {Y} $', {})).toBe('no reference $X {Y} $');
    expect(await revealWith('${env:ProgramFiles(x86)}', { 'ProgramFiles(x86)': 'C:\\' })).toBe('C:\\');
  });

  test('reference: passes source, name and default to the reader', async () => {
    const seen: Reference[] = [];
    const read = (reference: Reference): Promise<string> => {
      seen.push(reference);
      return Promise.resolve('x');
    };
    await resolveReferences('${env:A} ${B} ${C:-d} ${file:~/t.txt}', { ...field, read });
    expect(seen).toEqual([
      { from: 'env', name: 'A' },
      { from: 'env', name: 'B' },
      { from: 'env', name: 'C', fallback: 'd' },
      { from: 'file', name: '~/t.txt' },
    ]);
  });

  test('reference: uses the default when a variable is unset or empty', async () => {
    expect(await revealWith('${A:-x y}/${env:B:-z}/${C:-no}', { B: '', C: 'yes' })).toBe('x y/z/yes');
    expect(await revealWith('[${A:-}]', {})).toBe('[]');
    expect(await revealWith('${A:-a:-b}', {})).toBe('a:-b');
  });

  test('reference: keeps an escaped reference as text', async () => {
    expect(await revealWith('$${A} $$${B} ${A}', { A: '1' })).toBe('${A} $${B} 1');
  });

  test('reference: names server, field and variable when the variable is unset', async () => {
    const error = await failureOf(revealWith('Bearer ${env:GITHUB_TOKEN}', {}));
    expect(error.code).toBe('SECRET_MISSING');
    expect(error.message).toBe(
      'server "github", env.TOKEN: the environment variable GITHUB_TOKEN is not set. Store its value with: trunkline secret set GITHUB_TOKEN',
    );
    expect(error.details).toEqual({
      ...field,
      from: 'env',
      name: 'GITHUB_TOKEN',
      problem: 'the environment variable GITHUB_TOKEN is not set',
      fix: 'Store its value with: trunkline secret set GITHUB_TOKEN',
    });
  });

  test('reference: rejects an empty variable', async () => {
    const error = await failureOf(revealWith('${A}', { A: '' }));
    expect(error.code).toBe('SECRET_MISSING');
    expect(error.message).toContain('the environment variable A is empty');
  });

  test('reference: rejects a value with a NUL character without revealing it', async () => {
    const error = await failureOf(revealWith('${A}', { A: 'se\0cret' }));
    expect(error.code).toBe('SECRET_MISSING');
    expect(error.message).not.toContain('cret');
  });

  test.each(['secret', 'keychain'])(
    'reference: ${%s:NAME} names the command that stores a missing secret',
    async (kind) => {
      expect(await revealWith(`\${${kind}:github}`, { github: 'x' })).toBe('x');
      const error = await failureOf(revealWith(`\${${kind}:github}`, {}));
      expect(error.code).toBe('SECRET_MISSING');
      expect(error.message).toContain(
        'the secret github is not stored. Store its value with: trunkline secret set github',
      );
    },
  );

  test.each([
    '${',
    'a ${X',
    '${}',
    '${1A}',
    '${a b}',
    '${env:}',
    '${file:}',
    '${input:key}',
    '${secret:a b}',
    '${secret:../x}',
    '${cmd:op read}',
    '${cmd:[]}',
    '${cmd:["a",1]}',
    '${cmd:["}"}',
    '${vault:secret/data}',
    '${aws-sm:--endpoint-url=http://x#key}',
    '${A:-${B}}',
    '${A%x}',
  ])('reference: rejects %j', async (text) => {
    expect(findReferenceProblem(text)).toBeTypeOf('string');
    const error = await failureOf(revealWith(text, { A: '1', B: '2' }));
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain('server "github", env.TOKEN: ');
  });

  test('reference: inserts any value unchanged and does not expand it again', async () => {
    const nasty = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom(
        '${env:OTHER}',
        '$&',
        "$`$'$1$$",
        '"quoted"',
        "it's",
        'a\nb\r\n',
        'é🙂',
        '\\',
        '${',
        '$${X}',
        '}',
      ),
    );
    const value = fc.array(nasty, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(value, value, fc.string(), async (a, b, around) => {
        fc.pre(!a.includes('\0') && !b.includes('\0'));
        const text = `${escapeReferences(around)}|\${env:A}\${B}|\${A}`;
        expect(await revealWith(text, { A: a, B: b, OTHER: 'leaked' })).toBe(`${around}|${a}${b}|${a}`);
      }),
    );
  });

  test('reference: yields the original of any escaped text', async () => {
    const text = fc
      .array(fc.constantFrom('$', '{', '}', 'A', ':', '${', '$${'))
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(text, async (original) => {
        expect(await revealWith(escapeReferences(original), { A: 'x' })).toBe(original);
      }),
    );
  });
});

describe('references to programs', () => {
  const reader = createReferenceReader({
    env: { PATH: process.env['PATH'], FROM: 'gateway' },
    home: tmpdir(),
    configFile: '/nowhere/config.jsonc',
  });
  const node = (code: string): string => `\${cmd:${JSON.stringify([process.execPath, '-e', code])}}`;
  const resolveText = (text: string): Promise<string> =>
    resolveReferences(text, { ...field, read: (reference) => reader.read(reference) });

  test('cmd reference: inserts the output of a program that no shell has touched', async () => {
    const code = 'console.log("}$(id)" + process.env.FROM)';
    expect(await resolveText(`[${node(code)}]`)).toBe('[}$(id)gateway]');
  });

  test('cmd reference: runs the program once, and again after a failure', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-cmd-'));
    const file = JSON.stringify(join(folder, 'runs'));
    const count = node(
      `const fs = require('fs'); fs.appendFileSync(${file}, 'x'); const n = fs.readFileSync(${file}, 'utf8').length; if (n === 1) process.exit(3); console.log(n)`,
    );
    expect((await failureOf(resolveText(count))).message).toContain('ended with exit code 3');
    expect([await resolveText(count), await resolveText(count)]).toEqual(['2', '2']);
    await rm(folder, { recursive: true });
  });

  test('cmd reference: reports a failure without anything that the program has written', async () => {
    const error = await failureOf(
      resolveText(node('console.log("hush"); console.error("hush"); process.exit(1)')),
    );
    expect(error.code).toBe('SECRET_MISSING');
    expect(JSON.stringify([error.message, error.details, String(error.cause)])).not.toContain('hush"');
    expect(error.details).toMatchObject({ ...field, from: 'cmd', name: process.execPath });
    expect((await failureOf(resolveText('${cmd:["no-such-program"]}'))).message).toContain('was not found');
  });

  test('cmd reference: kills a program that prints too much or nothing', async () => {
    const environment = { env: process.env, cwd: tmpdir(), timeoutMs: 200 };
    const silent = { program: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] };
    await expect(runReferenceCommand(silent, environment)).rejects.toThrow('printed no value within 0.2 s');
    const loud = {
      program: process.execPath,
      args: ['-e', 'console.log("x".repeat(100_000)); setInterval(() => {}, 1000)'],
    };
    await expect(runReferenceCommand(loud, { ...environment, timeoutMs: 20_000 })).rejects.toThrow(
      'more than 64 KB',
    );
  });

  test.each([
    ['op', 'vault/item/field', 'op read --no-newline op://vault/item/field'],
    ['op', 'op://v/i/f', 'op read --no-newline op://v/i/f'],
    ['vault', 'secret/app#token', 'vault kv get -field=token secret/app'],
    [
      'aws-sm',
      'prod/db#password',
      'aws secretsmanager get-secret-value --secret-id=prod/db --query=SecretString --output=text',
    ],
  ] as const)('%s reference: runs the program for %s', (kind, text, line) => {
    const command = readReferenceCommand(kind, text);
    expect(typeof command === 'string' ? command : [command.program, ...command.args].join(' ')).toBe(line);
  });

  test('op reference: quotes a path that a shell executes in the command that people copy', async () => {
    const reading = resolveReferences('${op:x; touch pwned}', {
      ...field,
      read: () => Promise.reject(new ProgramFailure('was not found')),
    });
    await expect(reading).rejects.toThrow("op read --no-newline 'op://x; touch pwned'");
  });

  test('secret reference: stands in for an unset variable of the same name', async () => {
    const secrets = { read: (name: string) => Promise.resolve(name === 'TOKEN' ? 'stored' : undefined) };
    const stored = createReferenceReader({
      env: { SET: 'own', EMPTY: '' },
      home: '/',
      configFile: '/x',
      secrets,
    });
    const read = (text: string) =>
      resolveReferences(text, { ...field, read: (reference) => stored.read(reference) });
    expect(await read('${TOKEN} ${env:TOKEN} ${secret:TOKEN} ${SET} ${EMPTY:-e}')).toBe(
      'stored stored stored own e',
    );
    expect((await failureOf(resolveText('${secret:TOKEN}'))).message).toContain(
      'cannot be used in this setting',
    );
  });
});

describe('references of a transport', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trunkline-references-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const reader = (env: Readonly<Record<string, string>> = {}) =>
    createReferenceReader({ env, home: join(folder, 'home'), configFile: join(folder, 'config.jsonc') });
  const upstream = (transport: TransportConfig) => ({ name: 'github' as UpstreamName, transport });

  test('transport references: are replaced in every field of a stdio server', async () => {
    await writeFile(join(folder, 'one.env'), 'A=file\nB="${env:X}"\n');
    const revealed = await resolveTransport(
      upstream({
        kind: 'stdio',
        command: '${env:X}/bin',
        args: ['--token=${X}', 'plain'],
        env: { A: '${X}', C: 'c' },
        envFile: '${env:NAME}.env',
        cwd: '${X}',
      }),
      reader({ X: 'value', NAME: 'one' }),
    );
    expect(revealed).toEqual({
      kind: 'stdio',
      command: 'value/bin',
      args: ['--token=value', 'plain'],
      env: { A: 'value', B: '${env:X}', C: 'c' },
      cwd: join(folder, 'value'),
    });
  });

  test('transport references: are replaced in every field of an HTTP server', async () => {
    const revealed = await resolveTransport(
      upstream({
        kind: 'http',
        url: 'https://${HOST}/mcp',
        headers: { Authorization: 'Bearer ${T}' },
        flavour: 'auto',
      }),
      reader({ HOST: 'example.com', T: 'secret' }),
    );
    expect(revealed).toEqual({
      kind: 'http',
      url: 'https://example.com/mcp',
      headers: { Authorization: 'Bearer secret' },
      flavour: 'auto',
    });
  });

  test('file reference: resolves against the config and the home folder and trims final line breaks', async () => {
    await writeFile(join(folder, 'token'), '\uFEFF  secret \r\n\n');
    const http = { kind: 'http', url: 'http://localhost', flavour: 'auto' } as const;
    const revealed = await resolveTransport(
      upstream({ ...http, headers: { X: '${file:./token}' } }),
      reader(),
    );
    expect(revealed).toMatchObject({ headers: { X: '  secret ' } });
    const other = createReferenceReader({ env: {}, home: folder, configFile: '/nowhere/config.jsonc' });
    expect(
      await resolveTransport(upstream({ ...http, headers: { X: '${file:~/token}' } }), other),
    ).toMatchObject({
      headers: { X: '  secret ' },
    });
  });

  test('file reference: names the field and the file name, not the folder, when the file is missing', async () => {
    const http = { kind: 'http', url: 'http://localhost', flavour: 'auto' } as const;
    const error = await failureOf(
      resolveTransport(upstream({ ...http, headers: { X: '${file:deep/token}' } }), reader()),
    );
    expect(error.code).toBe('SECRET_MISSING');
    expect(error.message).toBe(
      'server "github", headers.X: the file token cannot be read: there is no such file',
    );
  });

  test('env file reference: reports a missing or invalid file without its content', async () => {
    const program = { kind: 'stdio', command: 'x', args: [], env: {} } as const;
    const envFile = join(folder, 'one.env');
    const missing = await failureOf(resolveTransport(upstream({ ...program, envFile }), reader()));
    expect(missing.code).toBe('SECRET_MISSING');
    expect(missing.message).toContain('server "github", envFile: the file one.env');
    expect(missing.message).not.toContain(folder);
    expect(missing.details).toMatchObject({ file: envFile });
    await writeFile(envFile, 'A=1\nsecret words\n');
    const bad = await failureOf(resolveTransport(upstream({ ...program, envFile }), reader()));
    expect(bad.code).toBe('CONFIG_INVALID');
    expect(bad.message).toContain('line 2');
    expect(bad.message).not.toContain('secret');
  });

  test('transport references: name the failing argument and reject an invalid URL without revealing it', async () => {
    const program = { kind: 'stdio', command: 'x', args: ['a', '${NO}'], env: {} } as const;
    expect((await failureOf(resolveTransport(upstream(program), reader()))).message).toContain('args[1]: ');
    const address = { kind: 'http', url: '${SECRET}', headers: {}, flavour: 'auto' } as const;
    const error = await failureOf(resolveTransport(upstream(address), reader({ SECRET: 'ftp://hush' })));
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).not.toContain('hush');
  });

  test('transport references: do not resolve names of object prototypes', async () => {
    const program = { kind: 'stdio', command: '${constructor}', args: [], env: {} } as const;
    expect((await failureOf(resolveTransport(upstream(program), reader()))).code).toBe('SECRET_MISSING');
  });
});
