/** How results are printed. */
export interface Style {
  readonly format: 'json' | 'text';
  /** With `--json` problems are told as JSON too, which nobody expects who only has a pipe. */
  readonly isJsonAsked: boolean;
  readonly isOutColoured: boolean;
  readonly isErrColoured: boolean;
  /** Columns of the terminal; without a terminal there is no limit. */
  readonly width: number;
  /** Of the terminal that is behind standard error. */
  readonly errWidth: number;
  /** How waiting is shown: a line that moves, lines that stay, or not at all. */
  readonly progress: 'drawn' | 'lines' | 'none';
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
    width: widthOf(stdout),
    errWidth: widthOf(stderr),
    progress: progressOf(said(flags, '--progress') ?? env['TRUNKLINE_PROGRESS'], {
      isTerminal: stderr.isTTY === true,
      isDumb,
    }),
  };
}

function widthOf({ isTTY, columns }: Terminal): number {
  return isTTY === true ? Math.max(20, columns ?? 80) : Infinity;
}

/** A terminal that cannot go back in a line gets lines; so does whoever has the screen read to them and asks for it. */
function progressOf(
  how: string | undefined,
  { isTerminal, isDumb }: { readonly isTerminal: boolean; readonly isDumb: boolean },
): Style['progress'] {
  if (how === 'lines' || how === 'none') return how;
  if (!isTerminal) return 'none';
  return isDumb ? 'lines' : 'drawn';
}

/** The value of a flag, in either spelling. */
function said(flags: readonly string[], flag: string): string | undefined {
  const at = flags.lastIndexOf(flag);
  return at >= 0
    ? flags[at + 1]
    : flags.findLast((each) => each.startsWith(`${flag}=`))?.slice(flag.length + 1);
}

/** Undefined where the terminal decides. */
function colourWanted(flags: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const wish = said(flags, '--color') ?? env['TRUNKLINE_COLOR'];
  if (wish === 'always') return true;
  if (wish === 'never') return false;
  // The agreement among programs: any text at all, whatever it says.
  if (isSet(env['NO_COLOR'])) return false;
  if (isSet(env['FORCE_COLOR'])) return env['FORCE_COLOR'] !== '0';
  return undefined;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
