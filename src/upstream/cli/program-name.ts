import { COMMAND_NAME } from './help/read-commands.ts';

/** What a program is called, and which of its fixed arguments are words of the command rather than values. */
export interface ProgramName {
  readonly name: string;
  readonly words: readonly string[];
}

/** `kubectl`, `docker compose`, and for `node tools/greet.mjs` the name of the script. Values may be secrets and are not repeated. */
export function programName(command: string, args: readonly string[]): ProgramName {
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
