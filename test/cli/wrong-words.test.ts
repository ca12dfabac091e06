import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { commandHome } from '../support/command.ts';
import { fixture, fixtureLog } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { inTerminal } from '../support/terminal.ts';

checkLeaks();

const plain = fixture('plain');
const home = commandHome(
  { plain, off: { ...fixture('plain'), disabled: true } },
  { profiles: { quiet: { servers: ['plain'] } } },
);

describe('a word behind the name of a tool that is no argument', () => {
  test.each([
    { line: ['call', 'plain__echo', 'foo'], when: 'before the server was ever listed' },
    { line: ['call', 'plain__echo', 'foo', 'text=x'], when: 'with more behind it' },
    { line: ['prompt', 'plain__greet', 'foo'], when: 'of a prompt' },
    { line: ['describe', 'plain__echo', 'foo'], when: 'where none are taken' },
  ])('is what is wrong, $when: $line', async ({ line }) => {
    const { code, stdout, stderr } = await home.run(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`"foo" is no argument of ${line[1]}`);
    expect(fixtureLog(plain).of('started')).toEqual([]);
  });

  test('is a tool where the name is that of no tool', async () => {
    const { code, stderr } = await home.run(['call', 'plian', 'echo', '{}']);
    expect(code).toBe(6);
    expect(stderr).toContain('There is no server "plian". Did you mean "plain"?');
  });
});

describe('words that do not go together are refused before anything is started', () => {
  const own = ['--', plain.command, ...plain.args];
  test.each([
    { line: ['tools', 'plain', ...own], says: 'leave "plain" out' },
    { line: ['read', 'x://y', '--server', 'plain', ...own], says: 'leave --server out' },
    {
      line: ['tools', '--url', 'plain'],
      says: '--url must be an address that begins with http:// or https://',
    },
    {
      line: ['logs', '--export', 'csv', '--limit', '1'],
      says: "cannot be used with option '--limit <count>'",
    },
    { line: ['logs', '--process', 'plain', '--errors'], says: "cannot be used with option '--errors'" },
    { line: ['connect', 'cursor', '--merge'], says: '--merge goes with --undo' },
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
  ])('$line', async ({ line, says }) => {
    const { code, stdout, stderr } = await home.run(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(fixtureLog(plain).of('started')).toEqual([]);
  });

  test('help of a command of a command is its own', async () => {
    const { code, stdout } = await home.run(['help', 'keys', 'add']);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: trunkline keys add [options] <name>');
    expect(await home.run(['--text', 'help', 'keys', 'add'])).toMatchObject({ code: 0, stdout });
  });

  test('a server where a tool is wanted is told apart', async () => {
    const { code, stderr } = await home.run(['describe', 'plain']);
    expect(code).toBe(6);
    expect(stderr).toContain('It is a server; what it has is listed by: trunkline tools plain');
  });
});

describe('the name of a server that is not there', () => {
  test.each([['restart'], ['refresh'], ['tools'], ['edit']])(
    '%s says what may have been meant, and does nothing',
    async (command) => {
      const { code, stdout, stderr } = await home.run([command, 'plian'], { env: { EDITOR: 'false' } });
      expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
      expect(stderr).toMatch(/^trunkline: There is no server "plian".* Did you mean "?plain"?\?/);
    },
  );

  test.each([['restart'], ['refresh'], ['tools']])(
    '%s of a disabled one says how to use it',
    async (command) => {
      const { code, stderr } = await home.run([command, 'off']);
      expect(code).toBe(6);
      expect(stderr).toContain('Server "off" is disabled; use it again with: trunkline enable off');
    },
  );

  test('edit opens a file that is broken as a whole, whatever was named', async () => {
    const broken = commandHome();
    writeFileSync(broken.configFile, '{ "mcpServers": ');
    const { code, stderr } = await broken.run(['edit', 'plain'], { env: { EDITOR: 'false' } });
    expect(code).toBe(2);
    expect(stderr).toContain('The editor "false" ended with 1');
  });
});

test('serve with a profile that there is not starts no gateway', async () => {
  const { code, stdout, stderr } = await home.run(['serve', '--profile', 'quite']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('no profile "quite". Did you mean "quiet"?');
  expect(await home.json(['status'])).toMatchObject({ running: false });
  expect(existsSync(join(home.home, 'state', 'logs', 'gateway.log'))).toBe(false);
});

test('--out keeps files also where the answer is printed as JSON', async () => {
  const out = join(home.home, 'kept');
  const { code, stdout, stderr } = await home.run(['read', 'fixture://blob', '--out', out, '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ contents: [{ uri: 'fixture://blob' }] });
  expect(JSON.parse(stderr)).toEqual({ note: join(out, readdirSync(out)[0] ?? '') });
});

describe.runIf(existsSync('/proc/self'))('a folder that cannot be made', () => {
  test('for --out ends the call with a sentence', async () => {
    for (const out of ['/proc/trunkline', '/proc/trunkline/a/b']) {
      const { code, stderr } = await home.run(['call', 'plain__everything-content', '{}', '--out', out]);
      expect(code).toBe(2);
      expect(stderr).toContain(`Cannot save to ${out}: there is no place for a folder.`);
    }
    // The tool may do something, and what it answers would be lost.
    expect(fixtureLog(plain).of('call')).toEqual([]);
  });

  test.each([
    { line: ['add', 'x', '--config', '/proc/trunkline/c.jsonc', '--', 'true'] },
    { line: ['edit', '--config', '/proc/trunkline/c.jsonc'] },
    { line: ['servers'], env: { TRUNKLINE_HOME: '/proc/trunkline' } },
    { line: ['call', 'plain__echo', 'text=x'], env: { TRUNKLINE_HOME: '/proc/trunkline' } },
  ])('for $line ends it', async ({ line, env = {} }) => {
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

  test('says in a pipe as JSON what may be started from now on, without secrets', async () => {
    const { code, stdout, stderr } = await home.run(['trust'], { cwd: project });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      trusted: file,
      servers: [{ name: 'weather', reachedBy: 'weather --api-key •••' }],
    });
  });

  test('says it for people', async () => {
    const { stdout } = await home.run(['trust', file, '--text']);
    expect(stdout).toBe(`Trusted as it is now: ${file}\n  weather  weather --api-key •••\n`);
    expect(readFileSync(file, 'utf8')).toContain('hush-hush');
  });

  test('of a file that is not there is an error', async () => {
    expect(await home.run(['trust', 'nowhere.jsonc'])).toMatchObject({ code: 3, stdout: '' });
  });
});

test('Ctrl-C ends what waits for lines that nobody types, with 130', async () => {
  await home.run(['call', 'plain__echo', 'text=x']);
  for (const [line, wait] of [
    [['search', '-'], 'send "add numbers\\r"\nexpect "plain__add"'],
    [['logs', '-f'], 'expect "plain echo"'],
    [['logs', '-f', '--process', 'plain'], 'expect "Connected."'],
  ] as const) {
    const { code, screen } = await inTerminal(home, line, { script: [wait, 'send "\\003"'] });
    expect({ line, code }).toEqual({ line, code: 130 });
    expect(screen).toContain('Interrupted.');
  }
});
