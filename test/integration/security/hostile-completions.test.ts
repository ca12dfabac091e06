import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { commandHome, program } from '../../support/command.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import {
  HOSTILE_NAMES,
  SHELL_NAMES,
  UNCOMPLETED_NAMES,
} from '../../support/servers/engine/hostile-names.mjs';
import { runInTerminal } from '../../support/terminal.ts';

checkLeaks();

const hostileServer = 'server-$(touch${IFS}PWNED) `touch PWNED`;touch PWNED';
const home = commandHome({
  h: fixture('hostile-names'),
  [hostileServer]: { command: 'none', enabled: false },
  '--config=x': { command: 'none', enabled: false },
});
const recordFile = join(home.home, 'arguments.txt');
const path = `${home.home}:${process.env['PATH'] ?? ''}`;

beforeAll(async () => {
  await home.run(['refresh']);
  // Shells find the program by its name. A completed command line is only recorded.
  const stub = [
    '#!/bin/sh',
    `case $1 in __complete|completions) exec "${process.execPath}" "${program}" "$@" ;; esac`,
    `for word do printf '%s\\0' "$word"; done >> '${recordFile}'`,
    `printf '\\036' >> '${recordFile}'`,
    'echo recorded',
  ];
  writeFileSync(join(home.home, 'trunkline'), `${stub.join('\n')}\n`);
  chmodSync(join(home.home, 'trunkline'), 0o755);
});

interface TypedLine {
  /** The typed line, after which Tab and Enter are pressed. */
  readonly typed: string;
  /** The arguments that the program must receive. */
  readonly words: readonly string[];
}

const nameAt = (at: number): string => HOSTILE_NAMES[at] ?? '';

/** A line whose last word becomes the hostile parameter of a tool. */
function parameterLine(at: number): TypedLine {
  return {
    typed: `trunkline call h parameter-${at} `,
    words: ['call', 'h', `parameter-${at}`, `${nameAt(at)}=`],
  };
}

/** A line whose last word becomes the hostile name of a tool, after a beginning that is quoted in any way. */
function toolLine(at: number, beginning: string): TypedLine {
  return { typed: `trunkline call h ${beginning}`, words: ['call', 'h', `tool-${at}-${nameAt(at)}`] };
}

function uriLine(at: number, before = ''): TypedLine {
  return {
    typed: `trunkline read ${before}fixture://${at}/`,
    words: ['read', `fixture://${at}/${nameAt(at)}`],
  };
}

const at = (name: string): number => HOSTILE_NAMES.indexOf(name);
const COMMAND = 0;
/** Each test stays below a few seconds: the most dangerous names as parameters, and other kinds of names once or twice. */
const LINES: readonly TypedLine[] = [
  ...[COMMAND, 1, 2, at("it's"), at('a!!b'), at('*'), at('~')].map(parameterLine),
  { typed: 'trunkline tools server', words: ['tools', hostileServer] },
  uriLine(COMMAND),
  toolLine(14, 'tool-14-'),
  toolLine(COMMAND, '"tool-0-'),
  toolLine(14, "'tool-14-"),
];

/** Presses Tab and Enter after each line in a real terminal, and returns the arguments that the program received. */
async function pressTab(shell: keyof typeof SHELLS, lines: readonly TypedLine[]): Promise<unknown> {
  const { command, setUp } = SHELLS[shell];
  rmSync(join(home.home, 'PWNED'), { force: true });
  rmSync(recordFile, { force: true });
  const { screen } = await runInTerminal(home, [], {
    shell: command,
    columns: 200,
    env: { PATH: path, HOME: home.home, HISTFILE: undefined },
    script: [
      `send ${quoted(setUp)}`,
      String.raw`send "; echo rea''dy\r"`,
      'expect timeout { exit 9 } "ready"',
      ...lines.flatMap(({ typed }) => [
        `send ${quoted(typed)}`,
        String.raw`send "\t\r"`,
        'expect timeout { exit 9 } "recorded"',
      ]),
      String.raw`send "exit\r"`,
    ],
  });
  const records = existsSync(recordFile) ? readFileSync(recordFile, 'utf8').split('\u001e').slice(0, -1) : [];
  return {
    words: records.map((record) => record.split('\0').slice(0, -1)),
    isPwned: existsSync(join(home.home, 'PWNED')),
    screen,
  };
}

function expected(lines: readonly TypedLine[]): unknown {
  return { words: lines.map(({ words }) => words), isPwned: false, screen: expect.any(String) };
}

/** As one word of expect's language. */
function quoted(word: string): string {
  return `"${word.replaceAll(/[\\"$[\]{}]/g, String.raw`\$&`)}"`;
}

const SHELLS = {
  bash: { command: 'exec bash --norc --noprofile -i', setUp: 'eval "$(trunkline completions bash)"' },
  zsh: {
    command: 'exec zsh -f -i',
    setUp: 'autoload -U compinit; compinit -u -D; eval "$(trunkline completions zsh)"',
  },
  fish: { command: 'exec fish --no-config -i', setUp: 'trunkline completions fish | source' },
};

describe('hostile names in shell completion', () => {
  test('completion: leaves out names with control characters and names that would be options', async () => {
    const last = HOSTILE_NAMES.length - UNCOMPLETED_NAMES.length;
    for (const [offset, name] of UNCOMPLETED_NAMES.entries()) {
      const { stdout } = await home.run(['__complete', '--', 'call', 'h', `parameter-${last + offset}`, '']);
      expect({ name, stdout }).toEqual({ name, stdout: '' });
    }
    const { stdout } = await home.run(['__complete', '--', 'tools', '']);
    expect(stdout.split('\n').map((line) => line.split('\t')[0])).toEqual(['h', hostileServer, '']);
  });

  test('completion: prints descriptions of servers on one line without control characters', async () => {
    const { stdout } = await home.run(['__complete', '--', 'call', 'h', 'parameter-0', '']);
    expect(stdout).toBe('$(touch${IFS}PWNED)=\tReads. -x $(touch PWNED)]0;PWNED\n');
  });

  test('completion script: bash runs nothing of a parameter, tool or URI that a server named', () => {
    const cases: readonly TypedLine[] = [
      ...[COMMAND, 1, 2, 14].map(parameterLine),
      toolLine(COMMAND, 'tool-0-'),
      { typed: 'trunkline tools server', words: ['tools', hostileServer] },
    ];
    const script = `eval "$(trunkline completions bash)"
complete_line() {
  COMP_WORDS=($1); [[ $1 == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _trunkline
  eval "\${COMP_WORDS[*]:0:COMP_CWORD} \${COMPREPLY[0]}"
}
for line do complete_line "$line"; done`;
    rmSync(recordFile, { force: true });
    const { stderr } = spawnSync('bash', ['-c', script, 'bash', ...cases.map(({ typed }) => typed)], {
      cwd: home.home,
      env: { ...process.env, TRUNKLINE_HOME: home.home, PATH: path },
      encoding: 'utf8',
    });
    const records = readFileSync(recordFile, 'utf8').split('\u001e').slice(0, -1);
    expect({
      stderr,
      isPwned: existsSync(join(home.home, 'PWNED')),
      words: records.map((record) => record.split('\0').slice(0, -1)),
    }).toEqual({ stderr: '', isPwned: false, words: cases.map(({ words }) => words) });
  });

  test('completion script: inserts hostile names as one word in bash', { tags: ['expect'] }, async () => {
    const lines = [
      ...LINES,
      uriLine(14, '"'),
      toolLine(COMMAND, 'tool"-0-'),
      toolLine(COMMAND, String.raw`tool-0-\$`),
    ];
    expect(await pressTab('bash', lines)).toEqual(expected(lines));
  });

  test(
    'completion script: inserts hostile names as one word in zsh',
    { tags: ['expect', 'zsh'] },
    async () => {
      expect(await pressTab('zsh', LINES)).toEqual(expected(LINES));
    },
  );

  test(
    'completion script: inserts hostile names as one word in fish',
    { tags: ['expect', 'fish'] },
    async () => {
      expect(await pressTab('fish', LINES)).toEqual(expected(LINES));
    },
  );
});

test('describe: quotes the names of a server in the command that people copy', async () => {
  const { stdout } = await home.run(['describe', 'h', 'parameter-0', '--text']);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe("trunkline call h__parameter-0 '$(touch${IFS}PWNED)'=…");
});

describe('every hostile name in shell completion', { tags: ['expect', 'slow'] }, () => {
  const lines = SHELL_NAMES.flatMap((_, index) => [
    parameterLine(index),
    index % 2 === 0 ? uriLine(index) : toolLine(index, `tool-${index}-`),
    toolLine(index, `${index % 2 === 0 ? '"' : "'"}tool-${index}-`),
  ]);

  test('completion script: inserts every hostile name as one word in bash', async () => {
    expect(await pressTab('bash', lines)).toEqual(expected(lines));
  });

  test('completion script: inserts every hostile name as one word in zsh', { tags: ['zsh'] }, async () => {
    expect(await pressTab('zsh', lines)).toEqual(expected(lines));
  });

  test('completion script: inserts every hostile name as one word in fish', { tags: ['fish'] }, async () => {
    expect(await pressTab('fish', lines)).toEqual(expected(lines));
  });
});
