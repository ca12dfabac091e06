import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { commandHome, program } from '../../support/command.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { runInTerminal } from '../../support/terminal.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const plain = fixture('plain');
const hostile = '$(touch pwned) `touch pwned`';
const home = commandHome({ plain, [hostile]: fixture('structured') });

beforeAll(async () => {
  await home.run(['refresh']);
  // Shells find the program by its name.
  writeFileSync(join(home.home, 'trunkline'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(join(home.home, 'trunkline'), 0o755);
});

async function candidates(...words: string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await home.run(['__complete', '--', ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0] ?? '');
}

const path = `${home.home}:${process.env['PATH'] ?? ''}`;

describe('candidates', () => {
  test.each([
    { words: ['sea'], are: ['search'] },
    { words: ['--conf'], are: ['--config'] },
    { words: ['--json', 'pref'], are: ['preflight'] },
    { words: ['call', '--ti'], are: ['--timeout'] },
    { words: ['call', 'plain__ech'], are: ['plain__echo'] },
    { words: ['call', 'pla'], are: expect.arrayContaining(['plain', 'plain__echo']) },
    { words: ['call', 'plain', 'ech'], are: ['echo'] },
    { words: ['call', 'plain__add', ''], are: ['a=', 'b='] },
    { words: ['call', 'plain', 'slow', 'm'], are: ['ms='] },
    { words: ['tools', 'p'], are: ['plain'] },
    { words: ['restart', 'p'], are: ['plain'] },
    { words: ['search', '--server', 'p'], are: ['plain'] },
    { words: ['prompt', 'plain__g'], are: ['plain__greet'] },
    { words: ['read', 'fixture://t'], are: ['fixture://text'] },
    { words: ['--color', 'al'], are: ['always'] },
    { words: ['completions', ''], are: ['bash', 'zsh', 'fish'] },
    { words: ['tools', '--', 'n'], are: [] },
    { words: ['preflight', 'plain__echo', 'plain__ad'], are: ['plain__add'] },
    { words: ['remove', 'plain', 'p'], are: [] },
    { words: ['add', '--scope', ''], are: ['user', 'project', 'local'] },
    { words: ['connect', 'claude'], are: ['claude-desktop', 'claude-code'] },
    { words: ['connect', 'cursor', ''], are: [] },
    { words: ['connect', '--undo', ''], are: [] },
    { words: ['init', '--connect', 'curs'], are: ['cursor'] },
    { words: ['import', '--from', '1m'], are: ['1mcp'] },
  ])('completion: completes $words', async ({ words, are }) => {
    expect(await candidates(...words)).toEqual(are);
  });

  test('completion: connect offers the clients of this machine first, and --undo those that are connected', async () => {
    const folder = temporaryFolder('person');
    mkdirSync(join(folder, '.kiro', 'settings'), { recursive: true });
    writeFileSync(join(folder, '.kiro', 'settings', 'mcp.json'), '{}');
    const env = { HOME: folder, XDG_CONFIG_HOME: undefined, APPDATA: undefined };
    const own = commandHome();
    const complete = async (...words: string[]): Promise<string> =>
      (await own.run(['__complete', '--', 'connect', ...words], { env })).stdout;
    expect(await complete('')).toMatch(
      /^kiro\tKiro, on this machine\nclaude-desktop\tClaude Desktop\n[^]*\nother\t/,
    );
    await own.run(['connect', 'kiro', '--yes'], { env });
    expect(await complete('--undo', '')).toBe('kiro\tKiro, on this machine\n');
  });

  test('completion: hides internal commands', async () => {
    expect(await candidates('__')).toEqual([]);
  });

  test('completion: uses cached listings and starts no server', async () => {
    const started = fixtureLog(plain).of('started').length;
    writeFileSync(join(home.home, 'broken.jsonc'), '{ oops');
    expect(await candidates('--config', 'broken.jsonc', 'tools', '')).toEqual([]);
    expect(await candidates('call', 'plain__add')).toEqual(['plain__add']);
    expect(fixtureLog(plain).of('started')).toHaveLength(started);
  });
});

describe('scripts', () => {
  test.each([['bash'], ['zsh'], ['fish']])('completion script: is printed for %s', async (shell) => {
    const { code, stdout } = await home.run(['completions', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain('trunkline __complete --');
  });

  test(
    'completion script: completes commands and tool names in zsh',
    { tags: ['zsh', 'expect'] },
    async () => {
      const { screen } = await runInTerminal(home, [], {
        shell: 'exec zsh -f -i',
        env: { PATH: path },
        script: [
          String.raw`send "autoload -U compinit; compinit -u -D; eval \"\$(trunkline completions zsh)\"; echo rea''dy\r"`,
          'expect "ready"',
          // The completed command is run, since the shell draws the line in pieces.
          String.raw`send "trunkline descr\tplain__ech\t--text\r"`,
          'expect "Returns the given text."',
          String.raw`send "trunkline connect vis\t--dry-run --text\r"`,
          'expect ".mcp.json (new)"',
          String.raw`send "exit\r"`,
        ],
      });
      expect(screen).toContain('Returns the given text.');
    },
  );

  test('completion script: completes in fish, with descriptions', { tags: ['fish'] }, () => {
    const complete = (line: string): string => {
      const script = 'trunkline completions fish | source; complete -C "$argv"';
      const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script, line], {
        cwd: home.home,
        encoding: 'utf8',
        env: {
          ...process.env,
          HOME: home.home,
          TRUNKLINE_HOME: home.home,
          PATH: path,
        },
      });
      expect(stderr).toBe('');
      return stdout;
    };
    expect(complete('trunkline call plain__ech')).toMatch(/^plain__echo\t\S/);
    expect(complete('trunkline pref')).toMatch(/^preflight\t/);
    expect(complete('trunkline connect curs')).toBe('cursor\tCursor\n');
    expect(complete('trunkline tools -- ./trunk')).toContain('trunkline');
  });

  test('completion script: is refused for an unsupported shell', async () => {
    expect(await home.run(['completions', 'tcsh'])).toMatchObject({ code: 2, stdout: '' });
  });

  test('completion script: completes in bash and never executes a server name', () => {
    const complete = (...words: string[]): readonly string[] => {
      const line = `eval "$(trunkline completions bash)"
COMP_WORDS=(trunkline "$@"); COMP_CWORD=$#; _trunkline; printf '%s\\n' "\${COMPREPLY[@]}"; ls`;
      const { stdout, stderr } = spawnSync('bash', ['-c', line, 'bash', ...words], {
        cwd: home.home,
        env: { ...process.env, TRUNKLINE_HOME: home.home, PATH: path },
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      return stdout.trim().split('\n');
    };
    expect(complete('call', 'plain__ech')).toContain('plain__echo');
    // Bash splits words at ":" and "="; the part already typed must not be repeated.
    expect(complete('read', 'fixture', ':', '//te')[0]).toBe('//text');
    expect(complete('read', 'fixture', ':')).toContain('//text');
    expect(complete('call', 'plain__add', 'a', '=', '1', 'b')[0]).toBe('b=');
    expect(complete('connect', 'cur')[0]).toBe('cursor');
    const after = complete('tools', '');
    expect(after[0]).toBe('plain');
    expect(after[1]).toMatch(/^\\\$\\\(touch/);
    expect(after).not.toContain('pwned');
  });
});
