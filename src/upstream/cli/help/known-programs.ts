import { GIT_OPTIONS } from './git-options.ts';

/** The arguments that print the help of a program. */
export interface HelpCommand {
  readonly root: readonly string[];
  /** The arguments for the help of a subcommand, whose words replace `{}`. */
  readonly sub: readonly string[];
  /** The text after this line of the program's own help is ignored. */
  readonly cutAt?: string;
  /** Subcommands that do not become tools. */
  readonly omit?: readonly string[];
  /** Options that the help of a subcommand does not mention, in the format of a help text, by subcommand. */
  readonly extraHelp?: Readonly<Record<string, string>>;
  /** Files of a temporary folder in which the help is printed: text by path. A path with a trailing slash is a folder. */
  readonly files?: Readonly<Record<string, string>>;
}

const DEFAULT_HELP: HelpCommand = { root: ['--help'], sub: ['{}', '--help'] };

/** Programs whose `--help` opens a manual page or is incomplete. */
const KNOWN: Readonly<Record<string, HelpCommand>> = {
  git: {
    root: ['help', '-a'],
    sub: ['{}', '-h'],
    cutAt: 'Interacting with Others',
    // These open windows, browsers and editors.
    omit: ['gitk', 'gui', 'citool', 'gitweb', 'instaweb', 'mergetool', 'difftool', 'bugreport'],
    extraHelp: GIT_OPTIONS,
    // Half of the subcommands print no help outside of a repository; an empty one is harmless.
    files: { '.git/HEAD': 'ref: refs/heads/main\n', '.git/objects/': '', '.git/refs/': '' },
  },
  go: { root: ['help'], sub: ['help', '{}'] },
  aws: { root: ['help'], sub: ['{}', 'help'] },
};

/** Returns the help command of a program. `configured` is `cli.help`; without `{}` it follows the subcommand. */
export function findHelpCommand(program: string, configured: string | undefined): HelpCommand {
  if (configured === undefined)
    return (Object.hasOwn(KNOWN, program) ? KNOWN[program] : undefined) ?? DEFAULT_HELP;
  const words = configured.split(/\s+/).filter((word) => word !== '');
  const sub = words.includes('{}') ? words : ['{}', ...words];
  return { root: sub.filter((word) => word !== '{}'), sub };
}

/** Returns the arguments that print the help of a command. */
export function buildHelpArgs(helpCommand: HelpCommand, path: readonly string[]): readonly string[] {
  return path.length === 0
    ? helpCommand.root
    : helpCommand.sub.flatMap((word) => (word === '{}' ? path : [word]));
}
