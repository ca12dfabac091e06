import { createInterface } from 'node:readline';
import { GatewayError } from '../../../model/errors.ts';
import type { CliContext } from '../../context.ts';

interface Choice<Key extends string> {
  readonly key: Key;
  readonly label: string;
}

/** Questions to the person at the terminal, one after the other. */
export interface Ask extends Disposable {
  text(question: string): Promise<string>;
  confirm(question: string, fallback?: boolean): Promise<boolean>;
  /** Which of these; the first one when the person only presses Enter. */
  choose<Key extends string>(question: string, choices: readonly Choice<Key>[]): Promise<Key>;
}

/** Whether somebody sits there who can be asked; what they do with a command counts as done by a person. */
export function isTerminal({ stdin, stderr }: CliContext): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Undefined where nobody sits there. */
export function askAtTerminal(context: CliContext): Ask | undefined {
  if (!isTerminal(context)) return undefined;
  const { stdin, stderr, out } = context;
  const pause = out.pause();
  // Without its own editing of lines the terminal stays as it is.
  const lines = createInterface({ input: stdin, terminal: false });
  const reader = lines[Symbol.asyncIterator]();
  // Ctrl-C at a question is an answer, too.
  context.onStopSignal(() => lines.close());
  const text = async (question: string): Promise<string> => {
    out.question(question);
    const next = await reader.next();
    if (next.done === true) {
      // What comes now is no part of the question.
      stderr.write('\n');
      throw new GatewayError('CALL_CANCELLED', 'Stopped; nothing more was changed.');
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
    choose: async (question, choices) => {
      out.note(question);
      choices.forEach(({ label }, at) => out.note(`  ${at + 1}  ${label}`));
      for (;;) {
        const answer = await text('[1]');
        const chosen = choices[answer === '' ? 0 : Number(answer) - 1];
        if (chosen !== undefined) return chosen.key;
        out.note(`Answer a number from 1 to ${choices.length}.`);
      }
    },
    [Symbol.dispose]() {
      lines.close();
      pause[Symbol.dispose]();
    },
  };
}

/** For questions that cannot be asked: names the flag that answers them. */
export function cannotAsk(what: string, flag: string): GatewayError {
  return new GatewayError('USAGE', `${what} There is no terminal to ask at: ${flag}.`);
}
