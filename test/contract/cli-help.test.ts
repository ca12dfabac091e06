import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { temporaryFolder } from '../support/test-run.ts';
import { root } from './source-tree.ts';

// Every run meets a broken configuration wherever one could be read; only what really needs it may say so.
const folder = temporaryFolder('cli');
const broken = join(folder, 'broken.jsonc');
for (const name of ['broken.jsonc', 'config.jsonc', 'trunkline.jsonc'])
  writeFileSync(join(folder, name), '{ "mcpServers": oops');

const screens = {
  trunkline: `\
Usage: trunkline [options] [command]

One line to every MCP server.

Options:
  --version        print the version
  --config <file>  use this configuration file (env: TRUNKLINE_CONFIG)
  -h, --help       print help

Commands:
  serve [options]  be an MCP server in front of all configured ones
  trust [file]     allow a project configuration to start its servers
  help [command]   print help for a command
`,
  'trunkline serve': `\
Usage: trunkline serve [options]

Be an MCP server in front of all configured ones: over standard input and
output, or over HTTP.

Options:
  --http [address]     listen for HTTP instead; without an address on
                       http.address of the configuration (env: TRUNKLINE_HTTP)
  --expose <kind>      how tools are shown to clients (choices: "auto",
                       "direct", "search", env: TRUNKLINE_EXPOSE)
  --standalone         run the gateway in this very process, which is what
                       happens today in any case
  --log-level <level>  how much to say on standard error (choices: "debug",
                       "info", "warn", "error", env: TRUNKLINE_LOG_LEVEL)
  -h, --help           print help

Global Options:
  --version            print the version
  --config <file>      use this configuration file (env: TRUNKLINE_CONFIG)
`,
  'trunkline trust': `\
Usage: trunkline trust [options] [file]

Allow a project's trunkline.jsonc, as it is now, to start the servers it names.

Arguments:
  file             a project configuration (default: "trunkline.jsonc")

Options:
  -h, --help       print help

Global Options:
  --version        print the version
  --config <file>  use this configuration file (env: TRUNKLINE_CONFIG)
`,
};

describe('help', () => {
  test.each([
    { line: '--help', screen: screens.trunkline },
    { line: '-h', screen: screens.trunkline },
    { line: 'help', screen: screens.trunkline },
    { line: 'serve --help', screen: screens['trunkline serve'] },
    { line: 'help serve', screen: screens['trunkline serve'] },
    { line: '--config broken.jsonc serve --help', screen: screens['trunkline serve'] },
    { line: 'serve --config broken.jsonc --help', screen: screens['trunkline serve'] },
    { line: 'trust --help', screen: screens['trunkline trust'] },
  ])('trunkline $line prints its screen to standard output', ({ line, screen }) => {
    expect(trunkline(line)).toEqual({ code: 0, stdout: screen, stderr: '' });
  });

  test('trunkline alone shows what there is and counts as a wrong command line', () => {
    expect(trunkline('')).toEqual({ code: 2, stdout: '', stderr: screens.trunkline });
  });

  test('docs/cli.md shows exactly the screens that the program prints', () => {
    const page = readFileSync(join(root, 'docs', 'cli.md'), 'utf8');
    const shown = [...page.matchAll(/^## (.+)\n\n```text\n([^`]*)```$/gm)].map(([, name, text]) => [
      name,
      text,
    ]);
    expect(Object.fromEntries(shown)).toEqual(screens);
  });

  test('the generated pages are fresh', async () => {
    // Not typed, since it is a script of the repository and no part of the program.
    const { generate }: { generate: () => Promise<ReadonlyMap<string, string>> } = await import(
      join(root, 'scripts', 'generate.mjs')
    );
    for (const [file, text] of await generate())
      expect(readFileSync(join(root, file), 'utf8'), file).toBe(text);
  });
});

describe('the command line', () => {
  test('trunkline --version prints the version of the package and nothing else', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(trunkline('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test.each([
    { line: 'serv', says: "unknown command 'serv'", meant: 'serve' },
    { line: 'turst file.jsonc', says: "unknown command 'turst'", meant: 'trust' },
    { line: 'serve --htp', says: "unknown option '--htp'", meant: '--http' },
    { line: '--cnfig x serve', says: "unknown option '--cnfig'", meant: '--config' },
    { line: 'serve --confg x', says: "unknown option '--confg'", meant: '--config' },
  ])('trunkline $line is refused with what was probably meant', ({ line, says, meant }) => {
    expect(trunkline(line)).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: ${says}\n(Did you mean ${meant}?)\nRun trunkline --help to see what there is.\n`,
    });
  });

  test.each([
    { line: 'frobnicate', says: "unknown command 'frobnicate'" },
    { line: 'serve --expose everything', says: 'Allowed choices are auto, direct, search.' },
    { line: 'serve --log-level loud', says: 'Allowed choices are debug, info, warn, error.' },
    { line: 'serve --config', says: "option '--config <file>' argument missing" },
    { line: 'serve too much', says: 'too many arguments' },
  ])('trunkline $line is a wrong command line', ({ line, says }) => {
    const { code, stdout, stderr } = trunkline(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).toContain('Run trunkline --help');
  });

  test.each([
    { how: 'before the command', line: '--config broken.jsonc serve', env: {} },
    { how: 'after the command', line: 'serve --config broken.jsonc', env: {} },
    { how: 'with an equals sign', line: 'serve --config=broken.jsonc', env: {} },
    { how: 'in the environment', line: 'serve', env: { TRUNKLINE_CONFIG: broken } },
  ])('a broken configuration named $how is reported with its place', ({ line, env }) => {
    const { code, stdout, stderr } = trunkline(line, env);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/broken\.jsonc:1:17: .+ \[CONFIG_INVALID\]\n$/);
  });

  test('a configuration that is not there is named', () => {
    const { code, stderr } = trunkline('serve --config nowhere.jsonc');
    expect(code).toBe(3);
    expect(stderr).toBe(
      `trunkline: ${join(folder, 'nowhere.jsonc')}: there is no such configuration file [CONFIG_NOT_FOUND]\n`,
    );
  });

  test('a project configuration is not read before it is trusted', () => {
    const { code, stderr } = trunkline('serve');
    expect(code).toBe(3);
    expect(stderr).toContain(`trunkline trust ${join(folder, 'trunkline.jsonc')}`);
    expect(stderr).toContain('[CONFIG_UNTRUSTED]');
  });
});

/** Runs the built program in a folder of its own; a gateway that starts nevertheless meets the end of its input. */
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
