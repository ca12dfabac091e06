import { gitOptions } from './git-options.ts';

/** How help is asked: words with `{}` where the subcommand stands. */
export interface HelpCall {
  readonly root: readonly string[];
  readonly sub: readonly string[];
  /** What comes after this line of the program's own help is not for tools. */
  readonly cutAt?: string;
  readonly leaveOut?: readonly string[];
  /** By subcommand, what its help keeps to itself, written as such help is. */
  readonly more?: Readonly<Record<string, string>>;
  /** What lies in the folder where it is asked, text by path; a path that ends with a slash is a folder. Without it, where it is called. */
  readonly files?: Readonly<Record<string, string>>;
}

const USUAL: HelpCall = { root: ['--help'], sub: ['{}', '--help'] };

/** Programs whose `--help` opens a manual page or says too little. */
const KNOWN: Readonly<Record<string, HelpCall>> = {
  git: {
    root: ['help', '-a'],
    sub: ['{}', '-h'],
    cutAt: 'Interacting with Others',
    // They open windows, browsers and editors.
    leaveOut: ['gitk', 'gui', 'citool', 'gitweb', 'instaweb', 'mergetool', 'difftool', 'bugreport'],
    more: gitOptions,
    // Half of it says nothing outside of a repository, and in an empty one nothing can be harmed.
    files: { '.git/HEAD': 'ref: refs/heads/main\n', '.git/objects/': '', '.git/refs/': '' },
  },
  go: { root: ['help'], sub: ['help', '{}'] },
  aws: { root: ['help'], sub: ['{}', 'help'] },
};

/** `configured` is `cli.help`; without `{}` it stands behind the subcommand. */
export function helpCall(program: string, configured: string | undefined): HelpCall {
  if (configured === undefined) return (Object.hasOwn(KNOWN, program) ? KNOWN[program] : undefined) ?? USUAL;
  const words = configured.split(/\s+/).filter((word) => word !== '');
  const sub = words.includes('{}') ? words : ['{}', ...words];
  return { root: sub.filter((word) => word !== '{}'), sub };
}

/** The arguments that ask for the help of a command. */
export function helpArgs(call: HelpCall, path: readonly string[]): readonly string[] {
  return path.length === 0 ? call.root : call.sub.flatMap((word) => (word === '{}' ? path : [word]));
}
