import { GatewayError } from '../model/errors.ts';
import type { CliContext } from './context.ts';

const MAX_LENGTH = 64 * 1024;
const [CTRL_C, CTRL_D, BACKSPACE, DELETE] = ['\u0003', '\u0004', '\b', '\u007F'];

/** The first line of standard input; at a terminal it is not shown while it is typed or pasted. */
export async function readSecret(
  { stdin, stderr, out }: Pick<CliContext, 'stdin' | 'stderr' | 'out'>,
  { prompt, signal }: { readonly prompt: string; readonly signal: AbortSignal },
): Promise<string> {
  const terminal = isTerminal(stdin) ? stdin : undefined;
  const stop = (): void => void stdin.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  signal.addEventListener('abort', stop, { once: true });
  // The terminal would write it back; in raw mode we get the keys as they are, and write nothing. Only then is it asked for.
  terminal?.setRawMode(true);
  if (terminal !== undefined) out.note(prompt);
  let line = '';
  try {
    for await (const chunk of stdin as AsyncIterable<Buffer>) {
      for (const key of chunk.toString()) {
        if (key === '\n' || key === '\r' || (terminal !== undefined && key === CTRL_D)) return line.trim();
        if (terminal !== undefined && key === CTRL_C)
          throw new GatewayError('CALL_CANCELLED', 'Stopped; nothing was saved.');
        const isErased = terminal !== undefined && (key === BACKSPACE || key === DELETE);
        line = isErased ? line.slice(0, -1) : line + key;
        if (line.length > MAX_LENGTH) throw new GatewayError('USAGE', 'That is too long for a token.');
      }
    }
    return line.trim();
  } finally {
    signal.removeEventListener('abort', stop);
    terminal?.setRawMode(false);
    // The end of the line was not shown either.
    if (terminal !== undefined) stderr.write('\n');
  }
}

type Raw = CliContext['stdin'] & { setRawMode(isRaw: boolean): unknown };

function isTerminal(stdin: CliContext['stdin']): stdin is Raw {
  return stdin.isTTY === true && 'setRawMode' in stdin && typeof stdin.setRawMode === 'function';
}
