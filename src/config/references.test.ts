import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { GatewayError } from '../model/errors.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { TransportConfig } from './config.ts';
import {
  escapeReferences,
  type Reference,
  referenceProblem,
  referenceReader,
  reveal,
  revealTransport,
} from './references.ts';

const place = { server: 'github', field: 'env.TOKEN' };

function revealWith(text: string, values: Readonly<Record<string, string>>): Promise<string> {
  return reveal(text, { ...place, read: ({ name }) => Promise.resolve(values[name]) });
}

async function failureOf(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof GatewayError) return error;
  throw new Error('it did not fail as expected', { cause: error });
}

describe('reveal', () => {
  test('replaces both ways to name a variable, wherever they stand', async () => {
    expect(await revealWith('a ${env:X}${Y} b', { X: '1', Y: '2' })).toBe('a 12 b');
    expect(await revealWith('no reference $X {Y} $', {})).toBe('no reference $X {Y} $');
    expect(await revealWith('${env:ProgramFiles(x86)}', { 'ProgramFiles(x86)': 'C:\\' })).toBe('C:\\');
  });

  test('says what to read', async () => {
    const seen: Reference[] = [];
    const read = (reference: Reference): Promise<string> => {
      seen.push(reference);
      return Promise.resolve('x');
    };
    await reveal('${env:A} ${B} ${C:-d} ${file:~/t.txt}', { ...place, read });
    expect(seen).toEqual([
      { from: 'env', name: 'A' },
      { from: 'env', name: 'B' },
      { from: 'env', name: 'C', fallback: 'd' },
      { from: 'file', name: '~/t.txt' },
    ]);
  });

  test('uses the default of a variable that is unset or empty', async () => {
    expect(await revealWith('${A:-x y}/${env:B:-z}/${C:-no}', { B: '', C: 'yes' })).toBe('x y/z/yes');
    expect(await revealWith('[${A:-}]', {})).toBe('[]');
    expect(await revealWith('${A:-a:-b}', {})).toBe('a:-b');
  });

  test('keeps an escaped reference as text', async () => {
    expect(await revealWith('$${A} $$${B} ${A}', { A: '1' })).toBe('${A} $${B} 1');
  });

  test('names server, field and variable when it is unset', async () => {
    const error = await failureOf(revealWith('Bearer ${env:GITHUB_TOKEN}', {}));
    expect(error.code).toBe('SECRET_MISSING');
    expect(error.message).toBe(
      'server "github", env.TOKEN: the environment variable GITHUB_TOKEN is not set',
    );
    expect(error.details).toEqual({ ...place, from: 'env', name: 'GITHUB_TOKEN' });
  });

  test('does not take an empty variable for a value', async () => {
    const error = await failureOf(revealWith('${A}', { A: '' }));
    expect(error.code).toBe('SECRET_MISSING');
    expect(error.message).toContain('the environment variable A is empty');
  });

  test('refuses a value with a NUL character without showing it', async () => {
    const error = await failureOf(revealWith('${A}', { A: 'se\0cret' }));
    expect(error.code).toBe('SECRET_MISSING');
    expect(error.message).not.toContain('cret');
  });

  test('says that the keychain is not available yet', async () => {
    const error = await failureOf(revealWith('${keychain:github}', { github: 'x' }));
    expect(error.code).toBe('SECRET_MISSING');
    expect(error.message).toContain('not available yet');
  });

  test.each([
    '${',
    'a ${X',
    '${}',
    '${1A}',
    '${a b}',
    '${env:}',
    '${file:}',
    '${input:key}',
    '${A:-${B}}',
    '${A%x}',
  ])('refuses %j instead of guessing', async (text) => {
    expect(referenceProblem(text)).toBeTypeOf('string');
    const error = await failureOf(revealWith(text, { A: '1', B: '2' }));
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain('server "github", env.TOKEN: ');
  });

  test('whatever a value holds, it goes in as it is and is not looked at again', async () => {
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

  test('whatever the text, escaping it makes it stand for itself', async () => {
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

describe('revealTransport', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trunkline-references-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const reader = (env: Readonly<Record<string, string>> = {}) =>
    referenceReader({ env, home: join(folder, 'home'), configFile: join(folder, 'config.jsonc') });
  const upstream = (transport: TransportConfig) => ({ name: 'github' as UpstreamName, transport });

  test('reveals everything of a program', async () => {
    await writeFile(join(folder, 'one.env'), 'A=file\nB="${env:X}"\n');
    const revealed = await revealTransport(
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

  test('reveals everything of an address', async () => {
    const revealed = await revealTransport(
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

  test('reads files relative to the configuration and to the home folder, without the last line break', async () => {
    await writeFile(join(folder, 'token'), '\uFEFF  secret \r\n\n');
    const http = { kind: 'http', url: 'http://localhost', flavour: 'auto' } as const;
    const revealed = await revealTransport(
      upstream({ ...http, headers: { X: '${file:./token}' } }),
      reader(),
    );
    expect(revealed).toMatchObject({ headers: { X: '  secret ' } });
    const other = referenceReader({ env: {}, home: folder, configFile: '/nowhere/config.jsonc' });
    expect(
      await revealTransport(upstream({ ...http, headers: { X: '${file:~/token}' } }), other),
    ).toMatchObject({
      headers: { X: '  secret ' },
    });
  });

  test('names the field of a file that is not there, but not its folder', async () => {
    const http = { kind: 'http', url: 'http://localhost', flavour: 'auto' } as const;
    const error = await failureOf(
      revealTransport(upstream({ ...http, headers: { X: '${file:deep/token}' } }), reader()),
    );
    expect(error.code).toBe('SECRET_MISSING');
    expect(error.message).toBe(
      'server "github", headers.X: the file token cannot be read: there is no such file',
    );
  });

  test('names an environment file that is missing or not understood', async () => {
    const program = { kind: 'stdio', command: 'x', args: [], env: {} } as const;
    const envFile = join(folder, 'one.env');
    const missing = await failureOf(revealTransport(upstream({ ...program, envFile }), reader()));
    expect(missing.code).toBe('SECRET_MISSING');
    expect(missing.message).toContain('server "github", envFile: the file one.env');
    expect(missing.message).not.toContain(folder);
    expect(missing.details).toMatchObject({ file: envFile });
    await writeFile(envFile, 'A=1\nsecret words\n');
    const bad = await failureOf(revealTransport(upstream({ ...program, envFile }), reader()));
    expect(bad.code).toBe('CONFIG_INVALID');
    expect(bad.message).toContain('line 2');
    expect(bad.message).not.toContain('secret');
  });

  test('names the field of an argument and refuses an address that is none, without showing it', async () => {
    const program = { kind: 'stdio', command: 'x', args: ['a', '${NO}'], env: {} } as const;
    expect((await failureOf(revealTransport(upstream(program), reader()))).message).toContain('args[1]: ');
    const address = { kind: 'http', url: '${SECRET}', headers: {}, flavour: 'auto' } as const;
    const error = await failureOf(revealTransport(upstream(address), reader({ SECRET: 'ftp://hush' })));
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).not.toContain('hush');
  });

  test('does not find variables that every object seems to have', async () => {
    const program = { kind: 'stdio', command: '${constructor}', args: [], env: {} } as const;
    expect((await failureOf(revealTransport(upstream(program), reader()))).code).toBe('SECRET_MISSING');
  });
});
