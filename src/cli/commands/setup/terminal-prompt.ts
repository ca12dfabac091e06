import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { GatewayError } from '../../../core/errors.ts';
import { readSecret } from '../../read-secret.ts';
import type { CliContext } from '../../context.ts';

const nextTurn = promisify(setImmediate);

interface Choice<Key extends string> {
  readonly key: Key;
  readonly label: string;
}

/** Asks the user at the terminal, one question after the other. */
export interface TerminalPrompt extends Disposable {
  text(question: string): Promise<string>;
  confirm(question: string, fallback?: boolean): Promise<boolean>;
  /** Asks for a text that the terminal does not show. */
  secret(question: string): Promise<string>;
  /** Returns the chosen key. Enter alone chooses the first one. */
  choose<Key extends string>(question: string, choices: readonly Choice<Key>[]): Promise<Key>;
}

/** Whether a user at a terminal can be asked. Changes then count as made by a person. */
export function isInteractive({ stdin, stderr }: CliContext): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Opens a prompt and hides progress until it is closed. Returns undefined without a terminal. */
export function openTerminalPrompt(context: CliContext): TerminalPrompt | undefined {
  if (!isInteractive(context)) return undefined;
  const { stdin, stderr, out } = context;
  const pause = out.pauseProgress();
  // With `terminal: true`, readline would switch the terminal to raw mode.
  const open = () => createInterface({ input: stdin, terminal: false });
  let lines = open();
  let reader = lines[Symbol.asyncIterator]();
  // Ctrl-C cancels the open question.
  context.onStopSignal(() => lines.close());
  const text = async (question: string): Promise<string> => {
    out.question(question);
    const next = await reader.next();
    if (next.done === true) {
      // The cursor is after the question, so further output must start on a new line.
      stderr.write('\n');
      throw new GatewayError('CALL_CANCELLED', 'The command was cancelled. Nothing more was changed.');
    }
    return next.value.trim();
  };
  return {
    text,
    confirm: async (question, fallback = true) => {
      for (;;) {
        const answer = (await text(`${question} [${fallback ? 'Y/n' : 'y/N'}]`)).toLowerCase();
        if (answer === '') return fallback;
        if (/^(?:y|yes|n|no)$/.test(answer)) return answer.startsWith('y');
        out.note('Answer y or n.');
      }
    },
    secret: async (prompt) => {
      lines.close();
      // Node stops reading a paused terminal in the next tick, and would also stop a reader that starts in this one.
      await nextTurn();
      try {
        return await readSecret(context, { prompt, signal: new AbortController().signal });
      } finally {
        lines = open();
        reader = lines[Symbol.asyncIterator]();
      }
    },
    choose: async (question, choices) => {
      out.note(question);
      choices.forEach(({ label }, at) => out.note(`  ${at + 1}  ${label}`));
      for (;;) {
        const answer = await text('[1]');
        const chosen = choices[answer === '' ? 0 : Number(answer) - 1];
        if (chosen !== undefined) return chosen.key;
        out.note(`Enter a number from 1 to ${choices.length}.`);
      }
    },
    [Symbol.dispose]() {
      lines.close();
      pause[Symbol.dispose]();
    },
  };
}

/** Returns the error for a question that cannot be asked without a terminal. `advice` names the flag that answers the question. */
export function noTerminalError(question: string, advice: string): GatewayError {
  return new GatewayError('USAGE', `${question} There is no terminal to ask for confirmation. ${advice}.`);
}
