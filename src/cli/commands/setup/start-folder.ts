import { existsSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { findPackageLauncher, toProgramName } from '../../../config/package-launcher.ts';
import { escapeReferences } from '../../../config/resolve-references.ts';

interface StartContext {
  /** The current folder of the user. */
  readonly cwd: string;
  /** The configuration. Programs without `cwd` start in its folder. */
  readonly file: string;
  readonly platform: NodeJS.Platform;
}

export interface StartFolder {
  /** The value of `cwd` for the entry. */
  readonly cwd: string;
  /** The word of the command line that needs this folder. */
  readonly word: string;
}

/**
 * Returns the `cwd` that a command line with relative paths needs. Returns undefined if the command line works in any folder.
 * The words are not rewritten, because a word that only looks like a path would be damaged.
 */
export function resolveStartFolder(words: readonly string[], where: StartContext): StartFolder | undefined {
  const [command = '', ...args] = words;
  const word = isCommandInFolder(command, where)
    ? command
    : selectPaths(command, args).find(createExistsIn(where.cwd));
  if (word === undefined) return undefined;
  // A relative `cwd` lets the whole project be moved.
  const isProject = dirname(where.file) === where.cwd;
  return { word, cwd: isProject ? '.' : escapeReferences(where.cwd) };
}

/** Whether the command is a relative path. A command without a path separator is found through PATH instead. */
function isCommandInFolder(command: string, { cwd, file, platform }: StartContext): boolean {
  const hasFolder = command.includes('/') || (platform === 'win32' && command.includes('\\'));
  if (!hasFolder || !isRelative(command)) return false;
  // A path that exists only relative to the configuration already works without `cwd`.
  return existsSync(resolve(cwd, command)) || !existsSync(resolve(dirname(file), command));
}

/** Returns a function that checks whether a word, or the value in `--option=value`, is a relative path that exists in the folder. */
function createExistsIn(folder: string): (word: string) => boolean {
  return (word) => {
    const [, value = word] = /^--?[\w-]+=(.+)$/s.exec(word) ?? [];
    return value !== '' && !value.startsWith('-') && isRelative(value) && existsSync(resolve(folder, value));
  };
}

function isRelative(word: string): boolean {
  return !isAbsolute(word) && !word.startsWith('~') && !word.includes('${') && !/^[a-z][\w+.-]+:/i.test(word);
}

const CONTAINERS = /^(?:docker|podman|nerdctl)$/;

/** Returns the arguments that may be paths. Names of packages and images are not paths, even if a folder has the same name. */
function selectPaths(command: string, args: readonly string[]): readonly string[] {
  const isExplicitPath = (word: string): boolean => /^\.{1,2}(?:[/\\]|$)/.test(word);
  if (CONTAINERS.test(toProgramName(command))) return args.filter(isExplicitPath);
  const packageAt = findPackageLauncher(command, args)?.packageAt;
  if (packageAt === undefined) return args;
  return args.filter((word, index) => index > packageAt || isExplicitPath(word));
}
