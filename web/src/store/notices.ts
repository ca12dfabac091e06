import { signal, type ReadonlySignal } from '@preact/signals';

import { asProblem } from '../api/problem.ts';

export interface Notice {
  readonly id: number;
  readonly kind: 'good' | 'bad';
  readonly text: string;
  readonly advice?: string;
}

/** A question with two answers, asked before something that cannot be undone. */
export interface Question {
  readonly title: string;
  readonly text: string;
  /** What the button says that agrees. */
  readonly action: string;
  readonly isDangerous?: boolean;
}

interface OpenQuestion extends Question {
  readonly answer: (agrees: boolean) => void;
}

/** What is said to the person over the page, and asked. */
export interface Notices {
  readonly list: ReadonlySignal<readonly Notice[]>;
  readonly question: ReadonlySignal<OpenQuestion | undefined>;
  readonly say: (text: string) => void;
  /** Shows what went wrong and what to do; stays until it is closed. */
  readonly fail: (error: unknown) => void;
  readonly drop: (id: number) => void;
  readonly confirm: (question: Question) => Promise<boolean>;
}

const MOST = 4;
const SHOWN_MS = 5000;

export function makeNotices(later: (act: () => void, ms: number) => unknown): Notices {
  const list = signal<readonly Notice[]>([]);
  const question = signal<OpenQuestion | undefined>(undefined);
  let last = 0;
  const add = (notice: Omit<Notice, 'id'>): number => {
    last += 1;
    list.value = [...list.value, { ...notice, id: last }].slice(-MOST);
    return last;
  };
  const drop = (id: number): void => {
    list.value = list.value.filter((notice) => notice.id !== id);
  };
  return {
    list,
    question,
    drop,
    say(text) {
      const id = add({ kind: 'good', text });
      later(() => drop(id), SHOWN_MS);
    },
    fail(error) {
      const { message, advice, isSignedOut } = asProblem(error);
      // The sign-in page says it already.
      if (isSignedOut) return;
      add({ kind: 'bad', text: message, ...(advice !== undefined && { advice }) });
    },
    confirm: async (asked) =>
      new Promise((resolve) => {
        question.value?.answer(false);
        question.value = {
          ...asked,
          answer(agrees) {
            question.value = undefined;
            resolve(agrees);
          },
        };
      }),
  };
}
