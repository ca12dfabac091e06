import { GatewayError } from '../core/errors.ts';
import type { CliContext } from './context.ts';

/** The maximum length of the line, in characters. */
const MAX_LENGTH = 64 * 1024;
const [CTRL_C, CTRL_D, BACKSPACE, DELETE] = ['\u0003', '\u0004', '\b', '\u007F'];

/** Reads the first line of standard input, or with `isWholeInput` everything that is piped to it. A terminal does not echo the line. */
export async function readSecret(
  { stdin, stderr, out }: Pick<CliContext, 'stdin' | 'stderr' | 'out'>,
  {
    prompt,
    signal,
    isWholeInput = false,
  }: { readonly prompt: string; readonly signal: AbortSignal; readonly isWholeInput?: boolean },
): Promise<string> {
  const terminal = isRawTerminal(stdin) ? stdin : undefined;
  const stop = (): void => void stdin.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  signal.addEventListener('abort', stop, { once: true });
  // In raw mode the terminal does not echo keys. The prompt comes afterwards, so that nothing typed in between is echoed.
  terminal?.setRawMode(true);
  if (terminal !== undefined) out.note(prompt);
  let line = '';
  try {
    for await (const chunk of stdin.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      for (const key of chunk.toString()) {
        const isLineEnd = (key === '\n' || key === '\r') && (terminal !== undefined || !isWholeInput);
        if (isLineEnd || (terminal !== undefined && key === CTRL_D)) return line.trim();
        if (terminal !== undefined && key === CTRL_C)
          throw new GatewayError('CALL_CANCELLED', 'The input was cancelled. Nothing was saved.');
        const isErased = terminal !== undefined && (key === BACKSPACE || key === DELETE);
        line = isErased ? line.slice(0, -1) : line + key;
        if (line.length > MAX_LENGTH)
          throw new GatewayError(
            'USAGE',
            'The input is longer than 64 KB, so it was not saved. Check what was pasted.',
          );
      }
    }
    return line.trim();
  } finally {
    signal.removeEventListener('abort', stop);
    terminal?.setRawMode(false);
    stdin.pause();
    // The terminal did not echo the line break either.
    if (terminal !== undefined) stderr.write('\n');
  }
}

type RawTerminal = CliContext['stdin'] & { setRawMode(isRaw: boolean): unknown };

function isRawTerminal(stdin: CliContext['stdin']): stdin is RawTerminal {
  return stdin.isTTY === true && 'setRawMode' in stdin && typeof stdin.setRawMode === 'function';
}
