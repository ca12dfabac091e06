import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { temporaryFolder } from '../../support/test-run.ts';
import { root } from './source-tree.ts';

// Every configuration that a run could find is broken; only commands that need one may report it.
const folder = temporaryFolder('cli');
const broken = join(folder, 'broken.jsonc');
for (const name of ['broken.jsonc', 'config.jsonc', 'trunkline.jsonc'])
  writeFileSync(join(folder, name), '{ "mcpServers": oops');

// The page is generated and committed, so changes of a screen appear in the diff.
const page = readFileSync(join(root, 'docs', 'cli.md'), 'utf8');
const screens = [...page.matchAll(/^## (trunkline.*)\n\n```text\n([^`]*)```$/gm)].map(
  ([, name = '', screen = '']) => ({ line: name.replace(/^trunkline ?/, ''), screen }),
);
const first = screens[0]?.screen ?? '';

describe('help', () => {
  test('help: the first screen is short and lists every command in a group', () => {
    const lines = first.split('\n');
    expect(lines.length).toBeLessThan(60);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    const headings = lines.filter((line) => /^\S.*:$/.test(line));
    expect(headings).toEqual(
      expect.arrayContaining(['Use tools:', 'Serve MCP clients:', 'Inspect and troubleshoot:']),
    );
    expect(headings.at(-1)).toBe('Options:');
    expect(headings).not.toContain('Commands:');
    const commands = screens.map(({ line }) => line).filter((line) => /^\S+$/.test(line));
    const often = lines.flatMap((line) => /^ {2}([a-z]\S*) /.exec(line)?.[1] ?? []);
    // Rare tasks list their commands on one line.
    const rare = lines.flatMap((line) => /^ {2}[A-Z].* {2}(\S.*)$/.exec(line)?.[1]?.split(', ') ?? []);
    expect(rare).toContain('logs');
    expect([...often, ...rare].toSorted()).toEqual(commands.toSorted());
  });

  test.each(screens)(
    'help: trunkline $line --help prints the screen shown in docs/cli.md, then the global options',
    ({ line, screen }) => {
      const { stdout, ...rest } = trunkline(`${line} --help`);
      const [own, shared] = stdout.split('\nGlobal Options:\n');
      expect({ own, ...rest }).toEqual({ own: screen, code: 0, stderr: '' });
      // The first screen lists these options among its own.
      if (line !== '') expect(shared).toMatch(/--version.*--config.*--json.*--text.*--color.*--progress/s);
    },
  );

  test.each([{ line: '' }, { line: '-h' }, { line: 'help' }, { line: '--config broken.jsonc --help' }])(
    'help: trunkline $line prints the first screen',
    ({ line }) => {
      expect(trunkline(line)).toEqual({ code: 0, stdout: first, stderr: '' });
    },
  );

  test.each([
    { line: 'help serve' },
    { line: '--config broken.jsonc serve --help' },
    { line: 'serve --config broken.jsonc --help' },
  ])('help: trunkline $line prints the help of serve', ({ line }) => {
    const screen = screens.find((each) => each.line === 'serve')?.screen;
    expect(trunkline(line)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${screen}\nGlobal Options:`) as string,
      stderr: '',
    });
  });

  test('generated pages: are up to date', { tags: ['slow'] }, async () => {
    // Typed here, because the script has no types.
    const { generate }: { generate: () => Promise<ReadonlyMap<string, string>> } = await import(
      join(root, 'scripts', 'generate.mjs')
    );
    for (const [file, text] of await generate())
      expect(readFileSync(join(root, file), 'utf8'), file).toBe(text);
  });
});

describe('the command line', () => {
  test('version: trunkline --version prints only the package version', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(trunkline('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test.each([
    { line: 'serv', says: "unknown command 'serv'", meant: 'serve', help: '--help to see its commands' },
    {
      line: 'turst file.jsonc',
      says: "unknown command 'turst'",
      meant: 'trust',
      help: '--help to see its commands',
    },
    {
      line: 'keys lst',
      says: "unknown command 'lst'",
      meant: 'list',
      help: 'keys --help to see its commands',
    },
    {
      line: 'serve --htp',
      says: "unknown option '--htp'",
      meant: '--http',
      help: 'serve --help to see its arguments and options',
    },
    {
      line: '--cnfig x serve',
      says: "unknown option '--cnfig'",
      meant: '--config',
      help: '--help to see its commands',
    },
    {
      line: 'serve --confg x',
      says: "unknown option '--confg'",
      meant: '--config',
      help: 'serve --help to see its arguments and options',
    },
    {
      line: 'call x --timout 3s',
      says: "unknown option '--timout'",
      meant: '--timeout',
      help: 'call --help to see its arguments and options',
    },
  ])('usage error: trunkline $line suggests the closest match', ({ line, says, meant, help }) => {
    expect(trunkline(line)).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: ${says}\n(Did you mean ${meant}?)\nRun trunkline ${help}.\n`,
    });
  });

  test.each([
    { line: 'frobnicate', says: "unknown command 'frobnicate'" },
    { line: 'serve --expose everything', says: 'Allowed choices are auto, direct, search' },
    { line: 'serve --log-level loud', says: 'Allowed choices are debug, info, warn, error.' },
    { line: 'serve --config', says: "option '--config <file>' argument missing" },
    { line: 'serve too much', says: 'too many arguments' },
    { line: 'tools too much', says: 'too many arguments' },
    { line: '--color sometimes servers', says: 'Allowed choices are auto, always, never.' },
    {
      line: 'search x --limit many',
      says: "'--limit <count>' argument 'many' is invalid. It must be a whole number",
    },
  ])('usage error: trunkline $line exits with 2 and points to --help', ({ line, says }) => {
    const { code, stdout, stderr } = trunkline(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).toMatch(
      /^Run trunkline (?:\w+ )?--help to see its (?:commands|arguments and options)\.$/m,
    );
  });

  test('usage error: is one line of JSON with --json', () => {
    const { code, stdout, stderr } = trunkline('servers --json --text');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      code: 'USAGE',
      message: "option '--text' cannot be used with option '--json'",
      details: {},
    });
  });

  test.each([
    { how: 'before the command', line: '--config broken.jsonc serve', env: {} },
    { how: 'after the command', line: 'serve --config broken.jsonc', env: {} },
    { how: 'with an equals sign', line: 'serve --config=broken.jsonc', env: {} },
    { how: 'in the environment', line: 'serve', env: { TRUNKLINE_CONFIG: broken } },
  ])('broken config: is reported with its position when named $how', ({ line, env }) => {
    const { code, stdout, stderr } = trunkline(line, env);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/broken\.jsonc:1:17: .+ \[CONFIG_INVALID\]\n$/);
  });

  test('missing config: is named in the error', () => {
    const { code, stderr } = trunkline('serve --config nowhere.jsonc');
    expect(code).toBe(3);
    expect(stderr).toBe(
      `trunkline: ${join(folder, 'nowhere.jsonc')}: there is no such configuration file [CONFIG_NOT_FOUND]\n`,
    );
  });

  test('project config: is not read until it is trusted', () => {
    const { code, stderr } = trunkline('serve');
    expect(code).toBe(3);
    expect(stderr).toContain(`trunkline trust ${join(folder, 'trunkline.jsonc')}`);
    expect(stderr).toContain('[CONFIG_UNTRUSTED]');
  });
});

/** Runs the built program in its own folder; a gateway that starts by mistake ends with its empty input. */
function trunkline(line: string, env: Readonly<Record<string, string>> = {}) {
  const args = [join(root, 'dist', 'main.js'), ...line.split(' ').filter((word) => word !== '')];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, TRUNKLINE_HOME: folder, ...env },
    encoding: 'utf8',
    input: '',
    timeout: 20_000,
  });
  return { code: status, stdout, stderr };
}
