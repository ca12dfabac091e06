import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { runInTerminal } from '../../support/terminal.ts';

checkLeaks();

const plain = fixture('plain');
const home = commandHome(
  { plain, off: { ...fixture('plain'), disabled: true } },
  { profiles: { quiet: { servers: ['plain'] } } },
);

describe('stray words', () => {
  test.each([
    { line: ['call', 'plain__echo', 'foo'], when: 'before the server was ever listed' },
    { line: ['call', 'plain__echo', 'foo', 'text=x'], when: 'before other arguments' },
    { line: ['prompt', 'plain__greet', 'foo'], when: 'for a prompt' },
    { line: ['describe', 'plain__echo', 'foo'], when: 'for a command that takes no arguments' },
  ])('stray word: is rejected $when: $line', async ({ line }) => {
    const { code, stdout, stderr } = await home.run(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`"foo" is not an argument of ${line[1]}`);
    expect(fixtureLog(plain).of('started')).toEqual([]);
  });

  test('unknown server: call suggests a similar server name', async () => {
    const { code, stderr } = await home.run(['call', 'plian', 'echo', '{}']);
    expect(code).toBe(6);
    expect(stderr).toContain('There is no server "plian". Did you mean "plain"?');
  });
});

describe('conflicting words', () => {
  const own = ['--', plain.command, ...plain.args];
  test.each([
    { line: ['tools', 'plain', ...own], says: 'Remove the argument "plain"' },
    { line: ['read', 'x://y', '--server', 'plain', ...own], says: 'Remove --server' },
    {
      line: ['tools', '--url', 'plain'],
      says: '--url must be a URL that begins with http:// or https://',
    },
    {
      line: ['logs', '--export', 'csv', '--limit', '1'],
      says: "cannot be used with option '--limit <count>'",
    },
    { line: ['logs', '--process', 'plain', '--errors'], says: "cannot be used with option '--errors'" },
    { line: ['connect', 'cursor', '--merge'], says: '--merge requires --undo' },
    { line: ['help', 'sevre'], says: "unknown command 'sevre'\n(Did you mean serve?)" },
    { line: ['help', 'keys', 'lst'], says: 'Run trunkline keys --help' },
    { line: ['sevre', '--help'], says: "unknown command 'sevre'" },
    { line: ['help', 'nope'], says: "unknown command 'nope'" },
    { line: ['--text', 'help', 'nope'], says: "unknown command 'nope'" },
    {
      line: ['--config', 'x.jsonc', 'help', 'sevre'],
      says: "unknown command 'sevre'\n(Did you mean serve?)",
    },
    { line: ['help', '--text', 'nope'], says: "unknown command 'nope'" },
    { line: ['--color=never', 'sevre', '--help'], says: "unknown command 'sevre'" },
  ])('usage error: $line is rejected before a server starts', async ({ line, says }) => {
    const { code, stdout, stderr } = await home.run(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(fixtureLog(plain).of('started')).toEqual([]);
  });

  test('help: prints the help of a subcommand', async () => {
    const { code, stdout } = await home.run(['help', 'keys', 'add']);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: trunkline keys add [options] <name>');
    expect(await home.run(['--text', 'help', 'keys', 'add'])).toMatchObject({ code: 0, stdout });
  });

  test('describe: points to trunkline tools when given a server name', async () => {
    const { code, stderr } = await home.run(['describe', 'plain']);
    expect(code).toBe(6);
    expect(stderr).toContain('"plain" is the name of a server. List its tools with: trunkline tools plain');
  });
});

describe('unknown or disabled server', () => {
  test.each([['restart'], ['refresh'], ['tools'], ['edit']])(
    'unknown server: %s suggests a similar name and exits with 6',
    async (command) => {
      const { code, stdout, stderr } = await home.run([command, 'plian'], { env: { EDITOR: 'false' } });
      expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
      expect(stderr).toMatch(/^trunkline: There is no server "plian".* Did you mean "?plain"?\?/);
    },
  );

  test.each([['restart'], ['refresh'], ['tools']])(
    'disabled server: %s says how to enable it',
    async (command) => {
      const { code, stderr } = await home.run([command, 'off']);
      expect(code).toBe(6);
      expect(stderr).toContain('Server "off" is disabled. Enable it with: trunkline enable off');
    },
  );

  test('edit: opens a broken file, even if a server is named', async () => {
    const broken = commandHome();
    writeFileSync(broken.configFile, '{ "mcpServers": ');
    const { code, stderr } = await broken.run(['edit', 'plain'], { env: { EDITOR: 'false' } });
    expect(code).toBe(2);
    expect(stderr).toContain('The editor "false" ended with exit code 1');
  });
});

test('serve: starts no gateway for an unknown profile', async () => {
  const { code, stdout, stderr } = await home.run(['serve', '--profile', 'quite']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('no profile "quite". Did you mean "quiet"?');
  expect(await home.json(['status'])).toMatchObject({ running: false });
  expect(existsSync(join(home.home, 'state', 'logs', 'gateway.log'))).toBe(false);
});

test('read: --out saves files, even with --json', async () => {
  const out = join(home.home, 'kept');
  const { code, stdout, stderr } = await home.run(['read', 'fixture://blob', '--out', out, '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ contents: [{ uri: 'fixture://blob' }] });
  expect(JSON.parse(stderr)).toEqual({ note: join(out, readdirSync(out)[0] ?? '') });
});

describe.runIf(existsSync('/proc/self'))('unusable folder', () => {
  test('unusable folder: --out fails before the tool is called', async () => {
    for (const out of ['/proc/trunkline', '/proc/trunkline/a/b']) {
      const { code, stderr } = await home.run(['call', 'plain__everything-content', '{}', '--out', out]);
      expect(code).toBe(2);
      expect(stderr).toContain(`Cannot save to ${out}: the parent folder cannot be created.`);
    }
    // The tool may have side effects, and its result would be lost.
    expect(fixtureLog(plain).of('call')).toEqual([]);
  });

  test.each([
    { line: ['add', 'x', '--config', '/proc/trunkline/c.jsonc', '--', 'true'] },
    { line: ['edit', '--config', '/proc/trunkline/c.jsonc'] },
    { line: ['servers'], env: { TRUNKLINE_HOME: '/proc/trunkline' } },
    { line: ['call', 'plain__echo', 'text=x'], env: { TRUNKLINE_HOME: '/proc/trunkline' } },
  ])('unusable folder: $line ends with a message that names the path', async ({ line, env = {} }) => {
    const { code, stderr } = await home.run(line, { env: { EDITOR: 'true', ...env } });
    expect(code).not.toBeNull();
    expect(stderr).not.toContain('INVARIANT');
    expect(stderr).toContain('/proc/trunkline');
  });
});

describe('trust', () => {
  const project = join(home.home, 'project');
  const file = join(project, 'trunkline.jsonc');
  mkdirSync(project);
  const entry = { command: 'weather', args: ['--api-key', 'hush-hush-1234'] };
  writeFileSync(file, JSON.stringify({ mcpServers: { weather: entry } }));

  test('trust: prints as JSON what may now start, without secrets', async () => {
    const { code, stdout, stderr } = await home.run(['trust'], { cwd: project });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      trusted: file,
      servers: [{ name: 'weather', reachedBy: 'weather --api-key •••' }],
    });
  });

  test('trust: prints as text what may now start, without secrets', async () => {
    const { stdout } = await home.run(['trust', file, '--text']);
    expect(stdout).toBe(
      `Trusted ${file} in its current version. It may start or connect to:\n  weather  weather --api-key •••\n`,
    );
    expect(readFileSync(file, 'utf8')).toContain('hush-hush');
  });

  test('trust: fails for a missing file', async () => {
    expect(await home.run(['trust', 'nowhere.jsonc'])).toMatchObject({ code: 3, stdout: '' });
  });
});

test(
  'interrupt: Ctrl-C ends commands that wait for input or follow logs, with exit code 130',
  { tags: ['expect'] },
  async () => {
    await home.run(['call', 'plain__echo', 'text=x']);
    for (const [line, wait] of [
      [['search', '-'], 'send "add numbers\\r"\nexpect "plain__add"'],
      [['logs', '-f'], 'expect "plain echo"'],
      [['logs', '-f', '--process', 'plain'], 'expect "Connected."'],
    ] as const) {
      const { code, screen } = await runInTerminal(home, line, { script: [wait, 'send "\\003"'] });
      expect({ line, code }).toEqual({ line, code: 130 });
      expect(screen).toContain('The command was interrupted.');
    }
  },
);
