import type { Command } from 'commander';
import { findPackageLauncher, toProgramName } from '../config/package-launcher.ts';
import { GatewayError } from '../core/errors.ts';
import { quoteShellWord } from '../core/lib/quote-shell-word.ts';
import { splitShellWords } from '../core/lib/split-shell-words.ts';
import { classifyAddSource } from './add-source.ts';

/** Matches `claude mcp add`, and the same command of clients that copied its syntax. */
const CLIENT_COMMAND =
  /^(?:\$\s+)?(?:claude|codex|gemini|qwen|copilot|droid|auggie|amp|kimi|qoder|grok) mcp add(?:-json)?$/;
const EDITORS = /^(?:code|code-insiders|codium|cursor|windsurf|positron)$/;
/** Programs that are rarely the name of a server. Without a name, they are where the name should be. */
const LAUNCHERS =
  /^(?:npx|bunx|pnpx|uvx|uv|pipx|npm|pnpm|yarn|bun|node|deno|python\d?|docker|podman|dnx|java|go|cargo|ruby|php|sh|bash|cmd)$/;
/** Matches a host with a path or a port, but without the scheme of a URL. */
const ADDRESS = /^(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+(?:\/|$)|\/)/;
const VARIABLE = /^[A-Za-z_]\w*=/;

/**
 * Inserts `--` before the program in the command line of `trunkline add`, so that the parser leaves the options after it to the program.
 * Removes `claude mcp add` and similar beginnings of pasted commands. Throws if two readings are equally likely.
 */
export function separateProgram(program: Command, argv: readonly string[]): readonly string[] {
  const at = findSubcommand(program, argv);
  const add = program.commands.find((command) => command.name() === 'add');
  if (argv[at] !== 'add' || add === undefined) return argv;
  const words = argv.slice(at + 1);
  const separated = new AddWords([program, add], words).separate();
  return separated.join('\0') === words.join('\0') ? argv : [...argv.slice(0, at + 1), ...separated];
}

/** Returns the index of the subcommand, which follows the global options. */
function findSubcommand(program: Command, argv: readonly string[]): number {
  let at = 0;
  while (argv[at]?.startsWith('-') === true) at += countOptionWords([program], argv.slice(at));
  return at;
}

/** Returns the number of words that an option takes, including itself. */
function countOptionWords(commands: readonly Command[], [word = '', next]: readonly string[]): number {
  const option = commands
    .flatMap((command) => command.options)
    .find(({ long, short }) => word === long || word === short);
  if (option?.required === true) return 2;
  return option?.optional === true && next?.startsWith('-') === false ? 2 : 1;
}

/** The words after `trunkline add`. */
class AddWords {
  readonly #commands: readonly [Command, Command];
  readonly #words: string[];

  constructor(commands: readonly [Command, Command], words: readonly string[]) {
    this.#commands = commands;
    this.#words = [...words];
  }

  separate(): readonly string[] {
    const words = this.#words;
    let name: string | undefined;
    let hasSource = false;
    for (let at = 0; at < words.length && words[at] !== '--'; at++) {
      if (name === undefined) this.#removePastedStart(at);
      const word = words[at];
      if (word === undefined || word === '--') break;
      if (word.startsWith('-') && word !== '-') at += countOptionWords(this.#commands, words.slice(at)) - 1;
      else if (name === undefined) {
        name = word;
        hasSource = classifyAddSource(word) !== undefined;
        if (LAUNCHERS.test(word)) this.#assertNamed(at);
      } else if (VARIABLE.test(word)) words.splice(at++, 0, '--env');
      else if (hasSource || classifyAddSource(word) !== undefined) hasSource = true;
      else {
        this.#assertUnambiguous(at);
        return words.toSpliced(at, 0, '--');
      }
    }
    return words;
  }

  /** Removes the start of a command that was pasted as words, or as one word in quotes. */
  #removePastedStart(at: number): void {
    const words = this.#words;
    const [first = '', second = ''] = words.slice(at);
    if (/^(?:\$\s+)?\S+\s+(?:mcp\s+add|--add-mcp)/.test(first)) {
      const line = first.replace(/^\$\s+/, '').replaceAll(/\\\r?\n/g, ' ');
      words.splice(at, 1, ...(splitShellWords(line) ?? [first]));
      return this.#removePastedStart(at);
    }
    if (CLIENT_COMMAND.test(words.slice(at, at + 3).join(' '))) words.splice(at, 3);
    else if (EDITORS.test(first) && second === '--add-mcp') words.splice(at, 2);
    else if (EDITORS.test(first) && second.startsWith('--add-mcp='))
      words.splice(at, 2, second.slice('--add-mcp='.length));
  }

  /** Throws if the name of the server is missing, and its program is where the name should be. */
  #assertNamed(at: number): void {
    const after = this.#words.slice(at + 1);
    const [next] = after;
    if (next === undefined || after.includes('--') || this.#isOwnOption(next)) return;
    if (classifyAddSource(next) !== undefined) return;
    const launcher = this.#words[at] ?? '';
    const line = after.map(quoteShellWord).join(' ');
    const asName = next.startsWith('-')
      ? ''
      : ` If the name of the server is ${launcher}, write: trunkline add ${launcher} -- ${line}`;
    throw new GatewayError(
      'USAGE',
      `The name of the server comes first, but ${launcher} is usually a program. If it is the program, write: trunkline add NAME -- ${launcher} ${line}${asName}`,
    );
  }

  #isOwnOption(word: string): boolean {
    const [flag] = word.split('=', 1);
    return this.#commands.some(({ options }) =>
      options.some(({ long, short }) => flag === long || flag === short),
    );
  }

  /** Throws if the program looks like an address, or if a variable follows it, which may belong to the program or to `add`. */
  #assertUnambiguous(at: number): void {
    const [command = '', ...args] = this.#words.slice(at);
    if (ADDRESS.test(command))
      throw new GatewayError(
        'USAGE',
        `${command} can be an address or a program. For the address, write: trunkline add NAME https://${command} For the program, write: trunkline add NAME -- ${command}`,
      );
    const isVariable = (word: string, index: number): boolean =>
      (/^(?:-e|--env)$/.test(word) && VARIABLE.test(args[index + 1] ?? '')) || /^--env=\w+=/.test(word);
    // Containers have the same option.
    const launcher = findPackageLauncher(command, args)?.name ?? toProgramName(command);
    if (/^(?:docker|podman|nerdctl)\b/.test(launcher) || !args.some(isVariable)) return;
    const flag = args.find(isVariable)?.replace(/=.*$/s, '') ?? '';
    // The value may be a secret, so the message does not repeat it.
    throw new GatewayError(
      'USAGE',
      `${flag} follows the program ${command}, so it can belong to the program or to trunkline. To set a variable of the server, write: trunkline add NAME ${flag} VARIABLE=VALUE -- ${command} … To pass it to the program, write: trunkline add NAME -- ${command} … ${flag} VARIABLE=VALUE`,
    );
  }
}
