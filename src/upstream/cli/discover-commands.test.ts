import { describe, expect, test } from 'vitest';

import { discoverCommands } from './discover-commands.ts';
import type { DiscoveryOptions } from './discover-commands.ts';
import { findHelpCommand } from './help/known-programs.ts';

/** Discovers a program that consists of help texts, by the arguments that print them. */
function program(texts: Readonly<Record<string, string>>, options: Partial<DiscoveryOptions> = {}) {
  const asked: string[] = [];
  let running = 0;
  let most = 0;
  const found = discoverCommands({
    program: 'x',
    words: [],
    helpCommand: findHelpCommand('x', undefined),
    depth: 3,
    only: [],
    hasTime: () => true,
    readHelpText: async (args) => {
      asked.push(args.join(' '));
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      return texts[args.join(' ')];
    },
    ...options,
  });
  return found.then(({ commands, isCut }) => ({
    paths: commands.map(({ path }) => path.join(' ')),
    commands,
    isCut,
    asked,
    most: () => most,
  }));
}

const list = (...names: readonly string[]): string =>
  `Usage: x <COMMAND>\n\nCommands:\n${names.map((name) => `  ${name}  does ${name}`).join('\n')}\n`;
const leaf = (path: string): string =>
  `Does ${path}\n\nUsage: x ${path} [OPTIONS] [FILE]\n\nOptions:\n  --all  all\n`;

describe('command discovery', () => {
  test('discovery: descends to the configured depth', async () => {
    const texts = {
      '--help': list('a', 'b'),
      'a --help': list('c'),
      'a c --help': list('d'),
      'a c d --help': leaf('a c d'),
      'b --help': leaf('b'),
    };
    expect((await program(texts, { depth: 1 })).asked).toEqual(['--help']);
    expect((await program(texts, { depth: 1 })).paths).toEqual(['a', 'b']);
    expect(
      (await program({ '--help': list('a'), 'a --help': 'Commands:\n  c\n  d\n' }, { depth: 2 })).commands,
    ).toMatchObject([{ summary: '' }, { summary: '' }]);
    expect((await program(texts, { depth: 2 })).paths).toEqual(['b', 'a c']);
    expect((await program(texts)).paths).toEqual(['b', 'a c d']);
    const deep = await program(texts, { depth: 4 });
    expect(deep.commands.at(-1)).toMatchObject({ path: ['a', 'c', 'd'], options: [{ flag: '--all' }] });
  });

  test('discovery: asks only for the configured commands, at any depth', async () => {
    const texts = { '--help': list('a', 'b'), 'a --help': list('c', 'd'), 'a c --help': leaf('a c') };
    const found = await program(texts, { depth: 1, only: [['a', 'c']] });
    expect(found.paths).toEqual(['a c']);
    expect(found.asked).toEqual(['--help', 'a --help']);
    const hidden = await program(texts, { only: [['secret']] });
    expect(hidden.paths).toEqual(['secret']);
    expect((await program({}, { only: [['a', 'c']] })).paths).toEqual(['a c']);
  });

  test('discovery: stops at repeated help texts and at a program with endless subcommands', async () => {
    const same = list('a', 'b');
    const repeating = await program({ '--help': same, 'a --help': same, 'b --help': same }, { depth: 6 });
    expect(repeating.paths).toEqual(['a', 'b']);
    const endless = await program(
      {},
      {
        depth: 6,
        readHelpText: (args) =>
          Promise.resolve(`${args.length}\n${list(...Array.from({ length: 40 }, (_, at) => `c${at}`))}`),
      },
    );
    expect(endless.isCut).toBe(true);
    expect(endless.paths.length).toBeLessThanOrEqual(600);
  });

  test('discovery: reads each subcommand from one shared help text', async () => {
    const text = 'Usage:\nx add <name>\nx rm [<name>...]\nx sub ls <key>\nx sub rm\n';
    const found = await program({
      '--help': text,
      'add --help': text,
      'rm --help': text,
      'sub --help': text,
    });
    expect(found.paths).toEqual(['add', 'rm', 'sub ls', 'sub rm']);
    expect(found.commands[0]?.arguments).toMatchObject([{ name: 'name', isRequired: true, repeats: false }]);
    expect(found.commands[1]?.arguments).toMatchObject([{ name: 'name', isRequired: false, repeats: true }]);
  });

  test('discovery: treats a program without subcommands as one command, with or without help', async () => {
    expect((await program({ '--help': leaf('').replace('x  ', 'x ') })).commands).toMatchObject([
      { path: [], arguments: [{ name: 'file' }], options: [{ flag: '--all' }] },
    ]);
    expect((await program({})).commands).toMatchObject([
      { path: [], options: [], arguments: [{ name: 'args' }] },
    ]);
  });

  test('discovery: asks for four help texts at a time and stops when time runs out', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `c${at}`);
    const busy = await program({ '--help': list(...names) });
    expect(busy.most()).toBe(4);
    let left = 3;
    const hurried = await program({ '--help': list(...names) }, { hasTime: () => left-- > 0 });
    expect(hurried).toMatchObject({ isCut: true, asked: ['--help', 'c0 --help', 'c1 --help'] });
    expect(hurried.paths).toHaveLength(30);
  });
});

test('discovery: completes git commands from known options and omits unsafe ones', async () => {
  const own = '    -q, --quiet           suppress diff output\n    --stat                as git says it\n';
  const found = await program(
    {
      'help -a': 'Main Porcelain Commands\n   log   Show commit logs\n   add   Add\n',
      'log -h': `usage: git log [<options>]\n\n${own}`,
      'add -h': `usage: git add\n\n${own}`,
    },
    { program: 'git', helpCommand: findHelpCommand('git', undefined) },
  );
  const [log, add] = found.commands.map(({ options }) => new Map(options.map((each) => [each.flag, each])));
  expect(log?.get('--max-count')).toMatchObject({
    aliases: ['-n'],
    value: { type: 'integer' },
    takesEquals: true,
  });
  expect(log?.get('--since')).toMatchObject({ value: { type: 'string' } });
  expect(log?.get('--author')).toMatchObject({ repeats: 'flags' });
  expect(log?.get('--oneline')).not.toHaveProperty('value');
  expect(log?.get('--diff-filter')).toMatchObject({ value: { type: 'string' }, takesEquals: true });
  expect(log?.get('--follow')).toBeDefined();
  expect(log?.get('--stat')?.description).toBe('as git says it');
  expect([...(add?.keys() ?? [])]).toEqual(['--quiet', '--stat']);
  // What writes files or runs other programs is left out.
  for (const flag of ['--output', '--ext-diff', '--textconv']) expect(log?.has(flag)).toBe(false);
});

test('discovery: does not read subcommands from an error message', async () => {
  const complaint =
    "git: 'lgo' is not a git command. See 'git --help'.\n\nThe most similar commands are\n\tlog\n\tlgtm\n";
  const { commands } = await program({ 'lgo --help': complaint }, { program: 'git', only: [['lgo']] });
  expect(commands).toMatchObject([
    { path: ['lgo'], summary: 'The help of this command could not be read', options: [], children: [] },
  ]);
});

test('discovery: asks for help with the configured arguments', () => {
  expect(findHelpCommand('x', '-h')).toEqual({ root: ['-h'], sub: ['{}', '-h'] });
  expect(findHelpCommand('x', 'help {}')).toEqual({ root: ['help'], sub: ['help', '{}'] });
  expect(findHelpCommand('git', undefined).sub).toEqual(['{}', '-h']);
  expect(findHelpCommand('constructor', undefined).root).toEqual(['--help']);
});
