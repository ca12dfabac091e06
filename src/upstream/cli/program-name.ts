import { COMMAND_NAME } from './help/read-commands.ts';

/** The name of a program, and the first fixed arguments if they are words of the command, such as `compose` in `docker compose`. */
export interface ProgramName {
  readonly name: string;
  readonly words: readonly string[];
}

/**
 * Parses a command such as `kubectl` or `docker compose`. For `node tools/greet.mjs`, the script gives the name. Values of arguments are
 * omitted, because they may be secrets.
 */
export function parseProgramName(command: string, args: readonly string[]): ProgramName {
  const [first = ''] = args;
  const isScript = /[/\\]/.test(first) || /\.(?:[cm]?[jt]s|py|rb|sh|pl|php|jar)$/.test(first);
  const rest = isScript ? args.slice(1) : args;
  const end = rest.findIndex((arg) => !COMMAND_NAME.test(arg));
  return {
    name: baseName(isScript ? first : command) || 'program',
    words: rest.slice(0, end < 0 ? rest.length : end),
  };
}

function baseName(path: string): string {
  const name = path.split(/[/\\]/).at(-1) ?? '';
  return name.replace(/\.(?:exe|cmd|bat|com|[cm]?[jt]s|py|rb|sh|pl|php|jar)$/i, '').slice(0, 64);
}
