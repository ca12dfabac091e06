/** How results are printed. */
export interface Style {
  readonly format: 'json' | 'text';
  /** With `--json` problems are told as JSON too, which nobody expects who only has a pipe. */
  readonly isJsonAsked: boolean;
  readonly isOutColoured: boolean;
  readonly isErrColoured: boolean;
  /** Columns of the terminal; without a terminal there is no limit. */
  readonly width: number;
}

interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** What the flags, the environment and the terminal say together; a wrong value is refused where the line is parsed. */
export function styleOf(
  argv: readonly string[],
  world: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly stdout: Terminal;
    readonly stderr: Terminal;
  },
): Style {
  const { env, stdout, stderr } = world;
  const end = argv.indexOf('--');
  const flags = end < 0 ? argv : argv.slice(0, end);
  const isJsonAsked = flags.includes('--json');
  const isText = flags.includes('--text') || (!isJsonAsked && stdout.isTTY === true);
  const colour = colourWanted(flags, env);
  const isDumb = env['TERM'] === 'dumb';
  return {
    format: isText ? 'text' : 'json',
    isJsonAsked,
    isOutColoured: colour ?? (stdout.isTTY === true && !isDumb),
    isErrColoured: colour ?? (stderr.isTTY === true && !isDumb),
    width: stdout.isTTY === true ? Math.max(20, stdout.columns ?? 80) : Infinity,
  };
}

/** Undefined where the terminal decides. */
function colourWanted(flags: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const at = flags.lastIndexOf('--color');
  const joined = flags.findLast((flag) => flag.startsWith('--color='))?.slice('--color='.length);
  const said = at >= 0 ? flags[at + 1] : (joined ?? env['TRUNKLINE_COLOR']);
  if (said === 'always') return true;
  if (said === 'never') return false;
  // The agreement among programs: any text at all, whatever it says.
  if (isSet(env['NO_COLOR'])) return false;
  if (isSet(env['FORCE_COLOR'])) return env['FORCE_COLOR'] !== '0';
  return undefined;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
