import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { cpuStopwatch } from '../../../../test/support/cpu-time.ts';
import { readHelp } from './read-help.ts';
import type { Help } from './read-help.ts';

/** The files have the layout of real programs; the README beside them says which texts we wrote. */
function helpText(name: string): string {
  return readFileSync(new URL(`../../../../test/support/help-texts/${name}.txt`, import.meta.url), 'utf8');
}

function help(name: string, words: readonly string[] = [], program = name.split('-')[0] ?? ''): Help {
  return readHelp(helpText(name), program, words);
}

function names({ commands }: Help): readonly string[] {
  return commands.map(({ name }) => name);
}

function option(read: Help, flag: string) {
  return read.options.find((one) => one.flag === flag);
}

describe('subcommands', () => {
  test.each([
    ['kubectl', 41, ['create', 'api-resources', 'api-versions', 'config', 'version']],
    ['docker', 57, ['run', 'ps', 'container', 'compose'].slice(0, 3)],
    ['cargo', 16, ['build', 'uninstall']],
    ['pip', 15, ['install', 'debug']],
    ['npm', 70, ['access', 'dist-tag', 'whoami', 'help-search']],
    ['git', 22, ['clone', 'add', 'bisect', 'push']],
    ['gh', 10, ['auth', 'pr', 'run', 'co', 'api']],
  ])('subcommands: finds all of %s', (name, count, some) => {
    const found = names(help(name));
    expect(found).toHaveLength(count);
    expect(found).toEqual(expect.arrayContaining(some));
    expect(found).not.toEqual(expect.arrayContaining(['help']));
    expect(found).not.toEqual(expect.arrayContaining(['completion']));
  });

  test('subcommands: finds names and descriptions in every help style', () => {
    expect(help('cobra', [], 'helmet').commands).toEqual([
      { name: 'create', aliases: [], summary: 'create a new chart with the given name' },
      { name: 'install', aliases: [], summary: 'install a chart' },
      { name: 'repo', aliases: [], summary: 'add, list, remove, update, and index chart repositories' },
    ]);
    expect(names(help('click', [], 'flaskish'))).toEqual(['db', 'routes', 'run']);
    expect(help('argparse', [], 'packer').commands).toEqual([
      { name: 'add', aliases: [], summary: 'add a thing' },
      {
        name: 'list',
        aliases: [],
        summary:
          'list all things that are in the box, with a text that is so long that it needs another line',
      },
      { name: 'remove', aliases: [], summary: 'remove a thing' },
    ]);
    expect(names(help('clap-sub', [], 'gitlike'))).toEqual(['clone', 'diff', 'push', 'stash']);
    expect(help('commander', [], 'shipper').commands).toEqual([
      { name: 'start', aliases: ['run'], summary: 'start a service' },
      { name: 'stop', aliases: [], summary: 'stop a service' },
    ]);
  });

  test('subcommands: reads aliases', () => {
    expect(help('cargo').commands[0]).toEqual({
      name: 'build',
      aliases: ['b'],
      summary: 'Builds this package',
    });
  });

  test('subcommands: reads those that only the usage line shows', () => {
    expect(names(help('git-remote', ['remote']))).toEqual([
      'add',
      'rename',
      'remove',
      'set-head',
      'show',
      'prune',
      'update',
      'set-branches',
      'get-url',
      'set-url',
    ]);
    expect(help('git-remote', ['remote']).runsAlone).toBe(true);
    expect(names(help('npm-cache', ['cache']))).toEqual(['add', 'clean', 'ls', 'verify', 'npx']);
    expect(names(help('git-stash', ['stash']))).toContain('pop');
  });

  test('subcommands: reads entries with uppercase arguments or dashes before the description', () => {
    const text =
      'Usage: x COMMAND\n\nUnit Commands:\n  list-units [PATTERN...]   List units currently in\n                            memory\n  start UNIT...             Start units\n  set-property UNIT PROPERTY=VALUE...  Set properties\n  NOTHING of this is a command\n';
    expect(readHelp(text, 'x', []).commands).toEqual([
      { name: 'list-units', aliases: [], summary: 'List units currently in memory' },
      { name: 'start', aliases: [], summary: 'Start units' },
      { name: 'set-property', aliases: [], summary: 'Set properties' },
    ]);
    const dashes =
      'y 2.6.1 (amd64)\nUsage: y [options] command\n\ny fetches packages.\n\nMost used commands:\n  update - Get new lists\n  dist-upgrade - Upgrade all\n';
    expect(readHelp(dashes, 'y', [])).toMatchObject({
      summary: 'y fetches packages.',
      commands: [
        { name: 'update', summary: 'Get new lists' },
        { name: 'dist-upgrade', summary: 'Upgrade all' },
      ],
    });
  });

  test('subcommands: ignores placeholders for files', () => {
    const text =
      'Usage:  bash [GNU long option] [option] ...\n        bash [GNU long option] [option] script-file ...\n';
    expect(names(readHelp(text, 'bash', []))).toEqual([]);
  });

  test('subcommands: ignores lists of options, examples and topics', () => {
    for (const name of [
      'kubectl-get',
      'docker-run',
      'cargo-build',
      'pip-install',
      'curl',
      'tar',
      'ls',
      'jq',
      'psql',
      'find',
    ])
      expect([name, names(help(name, name.split('-').slice(1)))]).toEqual([name, []]);
    expect(names(help('gh'))).not.toContain('environment');
  });
});

describe('options', () => {
  test.each([
    ['kubectl-get', ['get'], 23],
    ['docker-run', ['run'], 103],
    ['cargo-build', ['build'], 38],
    ['pip-install', ['install'], 65],
    ['curl', [], 10],
    ['ls', [], 57],
    ['psql', [], 33],
    ['grep', [], 47],
    ['git-add', ['add'], 18],
    ['jq', [], 16],
  ])('options: finds all of %s', (name, words, count) => {
    expect(help(name, words).options).toHaveLength(count);
  });

  test('options: infers the type from the default value of kubectl', () => {
    const read = help('kubectl-get', ['get']);
    expect(option(read, '--watch')).toMatchObject({ off: '--watch=false', aliases: ['-w'] });
    expect(option(read, '--watch')).not.toHaveProperty('value');
    expect(option(read, '--chunk-size')).toMatchObject({ value: { type: 'integer' } });
    expect(option(read, '--filename')).toMatchObject({ value: { type: 'string' }, repeats: 'flags' });
    expect(option(read, '--selector')).toMatchObject({ value: { type: 'string' }, takesEquals: true });
    expect(option(read, '--selector')?.description).toMatch(/^Picks by label \(a query\)/);
  });

  test('options: reads the declared types of cobra, docker and gh', () => {
    const run = help('docker-run', ['run']);
    expect(option(run, '--add-host')).toMatchObject({ repeats: 'flags', value: { type: 'string' } });
    expect(option(run, '--blkio-weight')).toMatchObject({ value: { type: 'integer' } });
    const install = help('cobra-install', ['install'], 'helmet');
    expect(option(install, '--history-max')).toMatchObject({ value: { type: 'integer' } });
    expect(option(install, '--timeout')).toMatchObject({ value: { type: 'string' } });
    expect(option(install, '--set')).toMatchObject({ repeats: 'flags' });
    expect(option(install, '--atomic')).not.toHaveProperty('value');
    expect(option(install, '--namespace')).toMatchObject({ aliases: ['-n'] });
    expect(option(help('cobra', [], 'helmet'), '--qps')).toMatchObject({ value: { type: 'number' } });
    const list = help('gh-pr-list', ['pr', 'list']);
    expect(option(list, '--state')?.value).toEqual({
      type: 'string',
      choices: ['open', 'closed', 'merged', 'all'],
    });
    expect(option(list, '--label')).toMatchObject({ repeats: 'flags' });
    expect(option(list, '--limit')?.value).toEqual({ type: 'integer' });
    expect(option(list, '--draft')).not.toHaveProperty('value');
    expect(option(list, '--repo')).toMatchObject({ value: { type: 'string' } });
  });

  test('options: reads values and choices of clap', () => {
    const build = help('cargo-build', ['build']);
    expect(option(build, '--color')?.value?.choices).toEqual(['auto', 'always', 'never']);
    expect(option(build, '--message-format')?.value?.choices).toContain('json-render-diagnostics');
    expect(option(build, '--verbose')).not.toHaveProperty('value');
    expect(option(build, '--package')).toMatchObject({ isOptional: true });
    const long = help('clap-long', [], 'ripper');
    expect(option(long, '--after-context')).toMatchObject({
      value: { type: 'integer' },
      description: 'Show NUM lines after each match',
    });
    expect(option(long, '--color')?.value?.choices).toEqual(['auto', 'always', 'never']);
    expect(option(long, '--glob')).toMatchObject({ repeats: 'flags' });
    expect(option(long, '--hidden')).toMatchObject({ off: '--no-hidden' });
    expect(option(long, '--sort')?.value?.choices).toEqual(['none', 'path', 'modified']);
  });

  test('options: reads types, choices and on/off flags of click', () => {
    const run = help('click-run', ['run'], 'flaskish');
    expect(option(run, '--port')?.value).toEqual({ type: 'integer' });
    expect(option(run, '--ratio')?.value).toEqual({ type: 'number' });
    expect(option(run, '--format')?.value?.choices).toEqual(['json', 'yaml', 'table']);
    expect(option(run, '--tag')).toMatchObject({ repeats: 'flags' });
    expect(option(run, '--reload')).toMatchObject({ off: '--no-reload' });
    expect(option(run, '--reload')).not.toHaveProperty('value');
  });

  test('options: reads choices and multi-value options of argparse', () => {
    const add = help('argparse-add', ['add'], 'packer');
    expect(option(add, '--weight')?.value).toEqual({ type: 'string' });
    expect(option(add, '--colour')?.value?.choices).toEqual(['red', 'green', 'blue']);
    expect(option(add, '--label')).toMatchObject({ repeats: 'values' });
    expect(option(add, '--note')).toMatchObject({ repeats: 'flags' });
    expect(option(add, '--count')).toMatchObject({ aliases: ['-n'], value: { type: 'integer' } });
  });

  test('options: reads values from the usage of npm', () => {
    const install = help('npm-install', ['install']);
    expect(option(install, '--install-strategy')?.value?.choices).toEqual([
      'hoisted',
      'nested',
      'shallow',
      'linked',
    ]);
    expect(option(install, '--omit')).toMatchObject({ repeats: 'flags' });
    expect(option(install, '--global')).not.toHaveProperty('value');
  });

  test('options: keeps single-dash options as written', () => {
    const flags = help('go-flag', [], 'server');
    expect(option(flags, '-addr')).toMatchObject({ value: { type: 'string' } });
    expect(option(flags, '-n')).toMatchObject({ value: { type: 'integer' } });
    expect(option(flags, '-verbose')).not.toHaveProperty('value');
    expect(option(help('ffmpeg'), '-f')).toMatchObject({ value: { type: 'string' } });
    expect(option(help('ffmpeg'), '-y')).not.toHaveProperty('value');
  });

  test('options: reads "=" values of GNU programs, including optional ones', () => {
    const ls = help('ls');
    expect(option(ls, '--block-size')).toMatchObject({ takesEquals: true, value: { type: 'string' } });
    expect(option(ls, '--color')).toMatchObject({ isOptional: true, takesEquals: true });
    expect(option(ls, '-c')?.description).toMatch(/^with -lt: order by/);
    expect(option(help('grep'), '--max-count')?.value).toEqual({ type: 'integer' });
    expect(option(help('grep'), '--ignore-case')).toMatchObject({ off: '--no-ignore-case' });
    // `-h` does not mean help in these programs.
    expect(option(ls, '--human-readable')).toMatchObject({ aliases: ['-h'] });
    expect(option(help('grep'), '--no-filename')).toMatchObject({ aliases: ['-h'] });
  });

  test('options: reads attached, "=" and missing values of git', () => {
    const diff = help('git-diff', ['diff']);
    expect(option(diff, '-S')).toMatchObject({ value: { type: 'string' }, isGlued: true });
    expect(option(diff, '-l')).toMatchObject({ value: { type: 'integer' }, isGlued: true });
    expect(option(diff, '--text')).toMatchObject({
      aliases: ['-a'],
      description: 'reads every file as text.',
    });
    expect(option(diff, '--cached')).not.toHaveProperty('value');
    const long = help('git-diff-long', ['diff'], 'git');
    expect(option(long, '--unified')).toMatchObject({
      aliases: ['-U'],
      isOptional: true,
      takesEquals: true,
      value: { type: 'integer' },
    });
    expect(option(long, '--stat')).toMatchObject({ isOptional: true, takesEquals: true });
    expect(option(long, '-S')).toMatchObject({ value: { type: 'string' } });
    expect(option(long, '-S')?.isGlued).toBeUndefined();
    expect(option(long, '--patch')).not.toHaveProperty('value');
    const log = help('git-log', ['log']);
    expect(option(log, '--decorate')).toEqual({
      flag: '--decorate',
      value: { type: 'string' },
      isOptional: true,
      takesEquals: true,
      description: 'names refs',
    });
    const newer = readHelp(
      'usage: git log [<options>]\n\n    -q, --[no-]quiet      suppress diff output\n    --[no-]decorate-refs <pattern>\n                          only decorate refs\n    -M[<n>], -B[<n>]      detect\n',
      'git',
      ['log'],
    );
    expect(option(newer, '--quiet')).toMatchObject({ aliases: ['-q'], off: '--no-quiet' });
    expect(option(newer, '--decorate-refs')).toMatchObject({ value: { type: 'string' } });
  });

  test('options: reads values and descriptions around a colon as Python prints them', () => {
    const python = help('python3');
    expect(option(python, '-c')).toEqual({
      flag: '-c',
      value: { type: 'string' },
      description: 'runs this text as the program (no options after it)',
    });
    expect(option(python, '-B')).toMatchObject({ flag: '-B' });
    expect(option(python, '-B')).not.toHaveProperty('value');
    expect(option(python, '-B')?.description).toMatch(/^writes no bytecode files/);
  });

  test('options: never include help and version', () => {
    const texts = [
      'kubectl',
      'docker',
      'cargo',
      'pip',
      'curl',
      'ls',
      'psql',
      'grep',
      'gh',
      'click',
      'argparse',
      'clap-long',
      'commander',
    ];
    for (const name of texts) {
      const flags = help(name).options.map(({ flag }) => flag);
      expect(flags).not.toContain('--help');
      expect(flags).not.toContain('--version');
    }
  });

  test('options: accept two values where the help shows two', () => {
    expect(option(help('jq'), '--arg')).toMatchObject({
      repeats: 'values',
      description: 'gives $a the value <v>;',
    });
  });
});

describe('arguments', () => {
  const args = (read: Help) =>
    read.arguments.map(({ name, isRequired, repeats, afterDashes }) =>
      [name, isRequired ? '!' : '?', repeats ? '*' : '', afterDashes ? '--' : ''].join(''),
    );

  test.each([
    ['docker-run', ['run'], 'docker', ['image!', 'command?', 'arg?*']],
    ['grep', [], 'grep', ['patterns!', 'file?*']],
    ['psql', [], 'psql', ['dbname?', 'username?']],
    ['curl', [], 'curl', ['url!']],
    ['git-add', ['add'], 'git', ['pathspec!*--']],
    ['git-log', ['log'], 'git', ['revision_range?', 'path?*--']],
    ['kubectl-exec', ['exec'], 'kubectl', ['pod_type_name!', 'command!--', 'args?*--']],
    ['argparse-add', ['add'], 'packer', ['thing!', 'box?']],
    ['clap-long', [], 'ripper', ['pattern!', 'path?*']],
    ['cobra-install', ['install'], 'helmet', ['name?', 'chart?']],
    ['gh-pr-list', ['pr', 'list'], 'gh', []],
    ['cargo-build', ['build'], 'cargo', []],
    ['npm-install', ['install'], 'npm', ['package_spec?*']],
    // What has no clear order is a list.
    ['click-run', ['run'], 'flaskish', ['args?*']],
    ['kubectl-get', ['get'], 'kubectl', ['args?*']],
    ['jq', [], 'jq', ['args?*']],
    ['find', [], 'find', ['args?*']],
  ])('arguments: reads those of %s from its usage', (name, words, program, expected) => {
    expect(args(help(name, words, program))).toEqual(expected);
  });

  test('arguments: reads their descriptions', () => {
    expect(help('argparse-add', ['add'], 'packer').arguments[0]?.description).toBe('the thing to add');
  });
});

describe('parser style', () => {
  test.each(['clap-long', 'click', 'argparse', 'commander', 'yargs', 'ls', 'tar', 'psql'])(
    'parser style: %s supports "=" and "--"',
    (name) => {
      expect(help(name).style).toMatchObject({ equals: true, dashes: true, explicitFalse: false });
    },
  );

  test.each(['cobra', 'docker', 'kubectl', 'gh'])(
    'parser style: %s supports "=", "--" and "=false"',
    (name) => {
      expect(help(name).style).toMatchObject({ equals: true, dashes: true, explicitFalse: true });
    },
  );

  test.each(['find', 'jq', 'curl', 'ffmpeg', 'sqlite3', 'go-flag', 'npm'])(
    'parser style: assumes nothing about %s',
    (name) => {
      expect(help(name).style).toMatchObject({ equals: false, dashes: false, explicitFalse: false });
    },
  );

  test('parser style: git supports "=" only, since "--" separates paths', () => {
    expect(help('git-add', ['add']).style).toMatchObject({ equals: true, dashes: false });
  });
});

describe('hostile and malformed texts', () => {
  test('help text: strips escape sequences, overstrikes and invisible characters', () => {
    const read = help('overstruck', [], 'thing');
    expect(read.options.map(({ flag, description }) => [flag, description])).toEqual([
      ['--all', 'all of it'],
      ['--help-me', 'please'],
    ]);
    expect(JSON.stringify(read)).not.toMatch(/[\u0000-\u001f\u200b]|\\u00/);
  });

  test('help text: takes the first prose as the summary', () => {
    expect(help('docker').summary).toBe('Runs programs in containers');
    expect(help('grep').summary).toBe('Find lines with PATTERNS in every FILE.');
    expect(help('kubectl-get', ['get']).summary).toBe('Show what the cluster has.');
    expect(help('click-run', ['run'], 'flaskish').summary).toBe('Run a local development server.');
    expect(help('npm-install', ['install']).summary).toBe('Adds packages');
  });

  test('help text: recognizes empty text and error messages as no help', () => {
    expect(readHelp('', 'x', [])).toMatchObject({ commands: [], options: [], isHelp: false });
    expect(readHelp('error: no such thing\n', 'x', [])).toMatchObject({
      commands: [],
      options: [],
      isHelp: false,
    });
  });

  test.each([
    ['brackets', `usage: x ${'['.repeat(5_000)}`],
    ['closed brackets', `usage: x ${'[a '.repeat(3_000)}${']'.repeat(3_000)}`],
    ['dots', `usage: x ${'a... '.repeat(20_000)}`],
    ['options', Array.from({ length: 20_000 }, (_, at) => `  --o${at}=X  text`).join('\n')],
    ['commands', `Commands:\n${Array.from({ length: 20_000 }, (_, at) => `  c${at}  text`).join('\n')}`],
    ['one line', `  --a ${'x '.repeat(200_000)}`],
    ['commas', `Commands:\n  ${'a, '.repeat(100_000)}`],
    ['quotes', `  --a='${"'".repeat(50_000)}`],
    ['possible values', `  --a <X>  possible values: ${'a, '.repeat(50_000)}`],
    ['must be', `  --a <X>  must be ${'"a", '.repeat(50_000)}`],
    ['dashes', `${'-'.repeat(100_000)}\n`.repeat(3)],
    ['spaces', `  --a${' '.repeat(100_000)}b`],
    ['escapes', '\u001b['.repeat(100_000)],
    ['backspaces', 'a\b'.repeat(100_000)],
    ['headings', 'A:\n'.repeat(50_000)],
    ['dashes of a flag', `  ${'-a, '.repeat(50_000)}`],
  ])('help text: reads excessive %s within bounds', (_, text) => {
    const cpuMs = cpuStopwatch();
    const read = readHelp(text, 'x', []);
    expect(read.options.length).toBeLessThanOrEqual(150);
    expect(read.commands.length).toBeLessThanOrEqual(400);
    // Endless backtracking would take minutes.
    expect(cpuMs()).toBeLessThan(3_000);
  });
});

test.each([
  'fatal: not a git repository (or any of the parent directories): .git\n',
  "git: 'scalar' is not a git command. See 'git --help'.\n",
  'error: unknown command "x" for "y"\n',
  'Unknown command: x\n',
  'sh: 0: Illegal option --\n',
  'ls: illegal option -- -\nusage: ls [-ABC] [file ...]\n',
  "x: unrecognized option '--help'\nUsage: x [-a] [FILE]\n",
  'x: cannot open /dev/none: no such device\n\nUsage: x FILE\n',
  '/usr/bin/x: line 3: y: command not found\n',
  'Traceback (most recent call last):\n  File "x", line 1\nModuleNotFoundError: No module named y\n',
  'Usage: x [-a]\n\nThis program built for x86_64-pc-linux-gnu\n\nReport bugs to <x@y>\n',
  'Something went wrong, and here is nothing that helps\n',
  'usage: x branch [<options>]\n\nGeneric options\n    -v, --verbose  show more\n',
])('help text: finds no summary in %j', (text) => {
  expect(readHelp(text, 'x', ['branch']).summary).toBe('');
});
