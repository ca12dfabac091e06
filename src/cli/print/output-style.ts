/** The format, colours and width of the output. */
export interface OutputStyle {
  readonly format: 'json' | 'text';
  /** Whether `--json` was given. Errors are then JSON as well; with `TRUNKLINE_OUTPUT=json` they stay text. */
  readonly isJsonRequested: boolean;
  readonly isOutColoured: boolean;
  readonly isErrColoured: boolean;
  /** The number of columns of the terminal behind standard output. `Infinity` without a terminal. */
  readonly width: number;
  /** The number of columns of the terminal behind standard error. `Infinity` without a terminal. */
  readonly errWidth: number;
  /** The command that shows long lists page by page; undefined if they are printed at once. */
  readonly pager: string | undefined;
  /** The number of rows of the terminal behind standard output. */
  readonly height: number;
  /** The form of progress output: an animated line, separate lines, or none. */
  readonly progress: 'drawn' | 'lines' | 'none';
}

interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Derives the style from flags, environment and terminal. The command-line parser rejects invalid values later. */
export function detectStyle(
  argv: readonly string[],
  context: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly stdout: Terminal;
    readonly stderr: Terminal;
  },
): OutputStyle {
  const { env, stdout, stderr } = context;
  const end = argv.indexOf('--');
  const flags = end < 0 ? argv : argv.slice(0, end);
  const isJsonAsked = flags.includes('--json');
  // The variable is for scripts, so it does not change what a person sees on a terminal.
  const isJsonInPipes = env['TRUNKLINE_OUTPUT'] === 'json' && stdout.isTTY !== true;
  const isText = flags.includes('--text') || (!isJsonAsked && !isJsonInPipes);
  const colour = readColourSetting(flags, env);
  const isDumb = env['TERM'] === 'dumb';
  return {
    format: isText ? 'text' : 'json',
    isJsonRequested: isJsonAsked,
    isOutColoured: colour ?? (stdout.isTTY === true && !isDumb),
    isErrColoured: colour ?? (stderr.isTTY === true && !isDumb),
    width: terminalWidth(stdout),
    errWidth: terminalWidth(stderr),
    pager: detectPager(env, { isTerminal: stdout.isTTY === true && !isDumb }),
    height: stdout.rows ?? Infinity,
    progress: detectProgress(readFlag(flags, '--progress') ?? env['TRUNKLINE_PROGRESS'], {
      isTerminal: stderr.isTTY === true,
      isDumb,
    }),
  };
}

/** Returns the pager that PAGER selects, or undefined in CI, in a pipe, on Windows, or if the variable is empty. */
function detectPager(
  { PAGER: pager = 'less', CI: ci = '' }: Readonly<Record<string, string | undefined>>,
  { isTerminal }: { readonly isTerminal: boolean },
): string | undefined {
  return !isTerminal || ci !== '' || pager.trim() === '' || process.platform === 'win32' ? undefined : pager;
}

function terminalWidth({ isTTY, columns }: Terminal): number {
  return isTTY === true ? Math.max(20, columns ?? 80) : Infinity;
}

/** Returns the form of progress output. A dumb terminal cannot redraw a line, so it gets separate lines, which users can also request. */
function detectProgress(
  how: string | undefined,
  { isTerminal, isDumb }: { readonly isTerminal: boolean; readonly isDumb: boolean },
): OutputStyle['progress'] {
  if (how === 'lines' || how === 'none') return how;
  if (!isTerminal) return 'none';
  return isDumb ? 'lines' : 'drawn';
}

/** Returns the value of a flag, written as `--flag value` or `--flag=value`. */
function readFlag(flags: readonly string[], flag: string): string | undefined {
  const at = flags.lastIndexOf(flag);
  return at >= 0
    ? flags[at + 1]
    : flags.findLast((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
}

/** Returns whether flags or variables force colours on or off. Returns undefined if the terminal decides. */
function readColourSetting(flags: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const setting = readFlag(flags, '--color') ?? env['TRUNKLINE_COLOR'];
  if (setting === 'always') return true;
  if (setting === 'never') return false;
  // Any non-empty value counts, see https://no-color.org.
  if (isSet(env['NO_COLOR'])) return false;
  if (isSet(env['FORCE_COLOR'])) return env['FORCE_COLOR'] !== '0';
  return undefined;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
