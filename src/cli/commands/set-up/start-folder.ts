import { existsSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { escapeReferences } from '../../../config/references.ts';

interface Where {
  /** The folder in which the person is. */
  readonly cwd: string;
  /** The configuration, in whose folder programs are started otherwise. */
  readonly file: string;
  readonly platform: NodeJS.Platform;
}

export interface StartFolder {
  /** As an entry says it. */
  readonly cwd: string;
  /** Which word makes it necessary. */
  readonly word: string;
}

/**
 * The `cwd` with which a command line means later, and elsewhere, what it means here; undefined where it means the same in any
 * folder. The words stay as they were typed: one that only looks like a path is not broken by a folder.
 */
export function startFolder(words: readonly string[], where: Where): StartFolder | undefined {
  const [command = '', ...args] = words;
  const word = isOfFolder(command, where) ? command : pathsAmong(command, args).find(isIn(where.cwd));
  if (word === undefined) return undefined;
  // A project can be moved as a whole.
  const isProject = dirname(where.file) === where.cwd;
  return { word, cwd: isProject ? '.' : escapeReferences(where.cwd) };
}

/** Without a separator a command is looked for on the path, whichever the folder. */
function isOfFolder(command: string, { cwd, file, platform }: Where): boolean {
  const hasFolder = command.includes('/') || (platform === 'win32' && command.includes('\\'));
  if (!hasFolder || !isRelative(command)) return false;
  // Somebody may have written it for where it is started otherwise.
  return existsSync(resolve(cwd, command)) || !existsSync(resolve(dirname(file), command));
}

function isIn(folder: string): (word: string) => boolean {
  return (word) => {
    const [, value = word] = /^--?[\w-]+=(.+)$/s.exec(word) ?? [];
    return value !== '' && !value.startsWith('-') && isRelative(value) && existsSync(resolve(folder, value));
  };
}

function isRelative(word: string): boolean {
  return !isAbsolute(word) && !word.startsWith('~') && !word.includes('${') && !/^[a-z][\w+.-]+:/i.test(word);
}

/** What runs packages, with the words before the package. */
const RUNNERS =
  /^(?:npx|pnpx|bunx|uvx|dnx|npm (?:exec|x)|pnpm (?:exec|dlx)|yarn dlx|bun x|pipx run|uv tool run)$/;
const CONTAINERS = /^(?:docker|podman|nerdctl)$/;
const NAMING_PACKAGES: ReadonlySet<string> = new Set(['-p', '--package', '--from', '--with', '--python']);

/** Arguments that may be paths. Names of packages and images are none, even where a folder has the same name. */
function pathsAmong(command: string, args: readonly string[]): readonly string[] {
  const program = command.replace(/^.*[/\\]/s, '').replace(/\.(?:cmd|exe)$/i, '');
  const isSurely = (word: string): boolean => /^\.{1,2}(?:[/\\]|$)/.test(word);
  if (CONTAINERS.test(program)) return args.filter(isSurely);
  const runner = [0, 1, 2].find((count) => RUNNERS.test([program, ...args.slice(0, count)].join(' ')));
  if (runner === undefined) return args;
  let at = runner;
  while (args[at]?.startsWith('-') === true) at += NAMING_PACKAGES.has(args[at] ?? '') ? 2 : 1;
  return args.filter((word, place) => place > at || isSurely(word));
}
