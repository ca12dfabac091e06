import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { buildArgv, InvalidArgumentsError } from './build-argv.ts';
import { readHelp } from './help/read-help.ts';
import { createCliTools } from './cli-tools.ts';
import type { CliTool } from './cli-tools.ts';
import type { CliCommand, CliStyle } from './cli-command.ts';
import { inheritStyle } from './help/help-style.ts';
import { createPresetTools } from './preset-tools.ts';

const KNOWN: CliStyle = { equals: true, dashes: true, explicitFalse: false, responseFiles: false };

function toolFrom(name: string, program: string, path: readonly string[], style?: CliStyle): CliTool {
  const file = new URL(`../../../test/support/help-texts/${name}.txt`, import.meta.url);
  const help = readHelp(readFileSync(file, 'utf8'), program, path);
  const command: CliCommand = {
    path,
    summary: help.summary,
    options: help.options,
    arguments: help.arguments,
    children: help.commands.map((one) => one.name),
    style: style === undefined ? help.style : inheritStyle(help.style, style),
  };
  const [tool] = createCliTools({ name: program, words: [] }, [], [command]);
  if (tool === undefined) throw new Error('There is no tool.');
  return tool;
}

const argv = (tool: CliTool, args: Record<string, unknown>): readonly string[] => buildArgv(tool, args);

describe('command line', () => {
  const get = toolFrom('kubectl-get', 'kubectl', ['get']);

  test('command line: puts command words first, then options, then arguments', () => {
    expect(
      argv(get, { args: ['pods', 'web'], output: 'json', watch: true, filename: ['a.yaml', 'b.yaml'] }),
    ).toEqual(['get', '--filename=a.yaml', '--filename=b.yaml', '--output=json', '--watch', 'pods', 'web']);
  });

  test('command line: omits null and negates flags where the program supports it', () => {
    expect(argv(get, { watch: false, output: null })).toEqual(['get', '--watch=false']);
    expect(argv(toolFrom('clap-long', 'ripper', []), { pattern: 'x', hidden: false })).toEqual([
      '--no-hidden',
      '--',
      'x',
    ]);
    expect(argv(toolFrom('cargo-build', 'cargo', ['build']), { release: false })).toEqual(['build']);
  });

  test('command line: passes any value as a single word', () => {
    const value = 'a b; rm -rf / $(x) `y` "z" \' \n';
    expect(argv(get, { selector: value })).toEqual(['get', `--selector=${value}`]);
  });

  test('command line: puts arguments after -- where the usage shows it', () => {
    const exec = toolFrom('kubectl-exec', 'kubectl', ['exec']);
    expect(argv(exec, { pod_type_name: 'web', command: 'ls', args: ['-la'], container: 'c' })).toEqual([
      'exec',
      '--container=c',
      'web',
      '--',
      'ls',
      '-la',
    ]);
    const log = toolFrom('git-log', 'git', ['log']);
    expect(argv(log, { revision_range: 'a..b', path: ['-x'] })).toEqual(['log', 'a..b', '--', '-x']);
  });

  test('command line: joins short options and values where the help does, also values with dashes', () => {
    const diff = toolFrom('git-diff', 'git', ['diff']);
    expect(argv(diff, { S: '-x y', l: 5 })).toEqual(['diff', '-l5', '-S-x y']);
    expect(() => argv(diff, { S: '' })).toThrow('must not be empty');
    expect(() => argv(diff, { l: '5 --output=x' })).toThrow('whole number');
  });

  test('command line: passes an optional value either alone or with its option', () => {
    const diff = toolFrom('git-diff-long', 'git', ['diff', '--no-index']);
    expect(argv(diff, { stat: true, unified: 3 })).toEqual(['diff', '--no-index', '--unified=3', '--stat']);
    expect(argv(diff, { stat: '', relative: 'src', abbrev: false })).toEqual([
      'diff',
      '--no-index',
      '--stat',
      '--relative=src',
    ]);
    expect(diff.definition['inputSchema']).toMatchObject({
      properties: {
        stat: {
          type: ['string', 'boolean'],
          description: '--stat: counts changed lines; true sets the flag without a value',
        },
        unified: { type: ['integer', 'boolean'] },
      },
    });
    expect(toolFrom('ls', 'ls', []).definition['inputSchema']).toMatchObject({
      properties: { color: { type: ['string', 'boolean'] } },
    });
  });

  test('command line: starts with options for a program without subcommands', () => {
    expect(argv(toolFrom('grep', 'grep', []), { patterns: '-v', file: ['f'] })).toEqual(['--', '-v', 'f']);
    // Without the dashes, tar reads its first word as options.
    expect(argv(toolFrom('tar', 'tar', []), { file: ['xf'] })).toEqual(['--', 'xf']);
  });
});

describe('rejected arguments', () => {
  const refusal = (tool: CliTool, args: Record<string, unknown>): string => {
    try {
      return `no refusal: ${JSON.stringify(argv(tool, args))}`;
    } catch (error) {
      if (error instanceof InvalidArgumentsError) return error.message;
      throw error;
    }
  };
  const find = toolFrom('find', 'find', []);
  const curl = toolFrom('curl', 'curl', []);
  const log = toolFrom('git-log', 'git', ['log']);
  const list = toolFrom('gh-pr-list', 'gh', ['pr', 'list'], KNOWN);

  test.each([
    [find, { args: ['.', '-delete'] }, 'starts with "-"'],
    [curl, { url: '-oX' }, 'starts with "-"'],
    [curl, { url: 'u', data: '-K/etc/x' }, '"data" starts with "-"'],
    [log, { revision_range: '--output=/tmp/x' }, 'starts with "-"'],
    [list, { state: 'weird' }, 'must be one of open, closed, merged, all'],
    [list, { limit: 'many' }, 'must be a whole number'],
    [list, { limit: 1.5 }, 'must be a whole number'],
    [list, { draft: 'yes' }, 'must be true or false'],
    [list, { state: ['open'] }, 'must be one value'],
    [list, { '--web': true }, 'Unknown parameter "--web"'],
    [list, { constructor: 'x' }, 'Unknown parameter "constructor"'],
    [list, { app: { a: 1 } }, 'must be a string'],
    [list, { limit: { a: 1 } }, 'must be a whole number'],
    [list, { app: 'a\0b' }, 'NUL'],
    [curl, {}, '"url" is required'],
    [toolFrom('psql', 'psql', []), { username: 'me' }, '"username" also requires "dbname"'],
  ])('invalid arguments: are rejected with the reason $2', (tool, args, reason) => {
    expect(refusal(tool, args)).toContain(reason);
  });

  test('invalid arguments: cannot call a subcommand through an argument of its parent', () => {
    const tool = { ...find, words: ['remote'], children: ['add'], style: KNOWN };
    expect(refusal(tool, { args: ['add', 'x'] })).toContain('is a subcommand');
  });

  test('invalid arguments: cannot name a response file', () => {
    const tool = { ...find, style: { ...KNOWN, responseFiles: true } };
    expect(refusal(tool, { args: ['@file'] })).toContain('starts with "@"');
  });
});

describe('preset tools', () => {
  const [tail] = createPresetTools(
    'kubectl',
    ['--context=prod'],
    [
      {
        name: 'tail',
        args: ['logs'],
        parameters: {
          pod: { type: 'string', required: true, repeat: false },
          lines: { type: 'integer', flag: '--tail=', required: false, repeat: false },
          follow: { type: 'boolean', flag: '-f', required: false, repeat: false },
        },
      },
    ],
  );
  const [bare] = createPresetTools('date', [], [{ name: 'now', args: [], parameters: {} }]);
  const [open] = createPresetTools(
    'echo',
    [],
    [{ name: 'say', args: ['--'], parameters: { words: { type: 'string', required: false, repeat: true } } }],
  );

  test('preset tool: puts fixed arguments before the given ones', () => {
    expect(tail && argv(tail, { pod: 'web', lines: -1, follow: true })).toEqual([
      '--context=prod',
      'logs',
      '--tail=-1',
      '-f',
      'web',
    ]);
    expect(bare && argv(bare, {})).toEqual([]);
    expect(open && argv(open, { words: ['-n', 'a'] })).toEqual(['--', '-n', 'a']);
  });

  test('preset tool: lists its required parameters', () => {
    expect(tail?.definition).toMatchObject({ name: 'tail', inputSchema: { required: ['pod'] } });
  });
});

describe('random values', () => {
  const tools = [
    toolFrom('kubectl-get', 'kubectl', ['get']),
    toolFrom('kubectl-exec', 'kubectl', ['exec']),
    toolFrom('docker-run', 'docker', ['run'], KNOWN),
    toolFrom('docker-run', 'docker', ['run']),
    toolFrom('git-add', 'git', ['add']),
    toolFrom('git-log', 'git', ['log']),
    toolFrom('curl', 'curl', []),
    toolFrom('find', 'find', []),
    toolFrom('tar', 'tar', []),
    toolFrom('jq', 'jq', []),
    toolFrom('argparse-add', 'packer', ['add']),
    toolFrom('click-run', 'flaskish', ['run']),
    toolFrom('npm-install', 'npm', ['install']),
    toolFrom('ffmpeg', 'ffmpeg', []),
  ];
  const PIECES = [
    '-',
    '--',
    '---',
    '-rf',
    '--force',
    '--exec=x',
    '=',
    '',
    ' ',
    'a',
    '\n',
    '@f',
    '-1',
    'add',
    '--help',
    '-c',
    '\t--x',
    'é',
  ];

  /** The same numbers every time, so that a failure comes back. */
  function* random(seed: number): Generator<number> {
    for (let state = seed; ;) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      yield state / 2 ** 32;
    }
  }

  function valueFrom(next: () => number): unknown {
    const piece = (): string => PIECES[Math.floor(next() * PIECES.length)] ?? '';
    const text = (): string => (next() < 0.5 ? piece() : piece() + piece());
    const kind = next();
    if (kind < 0.5) return text();
    if (kind < 0.7) return Array.from({ length: Math.floor(next() * 4) }, text);
    if (kind < 0.85) return next() < 0.5;
    return kind < 0.95 ? Math.floor(next() * 100) - 50 : null;
  }

  test.each(tools.map((tool) => [tool.definition['title'], tool] as const))(
    '%s: random values never add an option that was not chosen',
    (_, tool) => {
      const numbers = random(7);
      const next = (): number => numbers.next().value as number;
      let made = 0;
      const few = 2 / (tool.options.length + tool.arguments.length);
      for (let turn = 0; turn < 2_000; turn++) {
        const keys = [...tool.options, ...tool.arguments].filter(() => next() < few).map(([key]) => key);
        const given = Object.fromEntries(
          [...keys, ...tool.arguments.filter(([, one]) => one.isRequired).map(([key]) => key)].map((key) => [
            key,
            valueFrom(next),
          ]),
        );
        let line: readonly string[];
        try {
          line = argv(tool, given);
        } catch (error) {
          if (error instanceof InvalidArgumentsError) continue;
          throw error;
        }
        made++;
        expect([given, strangers(tool, given, line)]).toEqual([given, []]);
      }
      expect(made).toBeGreaterThan(20);
    },
  );

  /** Returns the words that a program could mistake for an option that the caller did not set. */
  function strangers(
    tool: CliTool,
    given: Record<string, unknown>,
    line: readonly string[],
  ): readonly string[] {
    expect(line.slice(0, tool.words.length)).toEqual(tool.words);
    const end = line.indexOf('--');
    const mayEnd = tool.style.dashes || tool.arguments.some(([, { afterDashes }]) => afterDashes);
    const read = line.slice(tool.words.length, end < 0 || !mayEnd ? line.length : end);
    const chosen = tool.options.filter(([key]) => key in given).map(([, option]) => option);
    const isChosen = (word: string): boolean =>
      chosen.some(
        ({ flag, off, value }) =>
          word === flag ||
          word === off ||
          word === `${flag}=false` ||
          (value !== undefined && word.startsWith(`${flag}=`)),
      );
    return read.filter((word) => word.startsWith('-') && !isChosen(word));
  }
});
