import { signal, type ReadonlySignal } from '@preact/signals';

import { toProblem } from '../api/problem.ts';

export interface Notice {
  readonly id: number;
  readonly kind: 'good' | 'bad';
  readonly text: string;
  readonly advice?: string | undefined;
}

/** A question that the user must confirm before an action is performed. */
export interface Confirmation {
  readonly title: string;
  readonly text: string;
  /** The label of the button that confirms. */
  readonly action: string;
  readonly isDangerous?: boolean;
}

interface OpenConfirmation extends Confirmation {
  readonly answer: (isConfirmed: boolean) => void;
}

/** Messages and confirmations that appear over the page. */
export interface Notices {
  readonly list: ReadonlySignal<readonly Notice[]>;
  readonly confirmation: ReadonlySignal<OpenConfirmation | undefined>;
  readonly showMessage: (text: string) => void;
  /** Shows an error and its advice until the user closes it. */
  readonly showError: (error: unknown) => void;
  readonly dismiss: (id: number) => void;
  /** Asks the user and resolves with the answer. A question that is still open is answered with false. */
  readonly confirm: (confirmation: Confirmation) => Promise<boolean>;
}

/** The maximum number of notices at once. A new one replaces the oldest. */
const MAX_NOTICES = 4;
/** The time after which a message disappears. */
const MESSAGE_MS = 5000;

export function createNotices(setTimer: (callback: () => void, ms: number) => unknown): Notices {
  const list = signal<readonly Notice[]>([]);
  const confirmation = signal<OpenConfirmation | undefined>(undefined);
  let lastId = 0;
  const add = (notice: Omit<Notice, 'id'>): number => {
    lastId += 1;
    list.value = [...list.value, { ...notice, id: lastId }].slice(-MAX_NOTICES);
    return lastId;
  };
  const dismiss = (id: number): void => {
    list.value = list.value.filter((notice) => notice.id !== id);
  };
  return {
    list,
    confirmation,
    dismiss,
    showMessage(text) {
      const id = add({ kind: 'good', text });
      setTimer(() => dismiss(id), MESSAGE_MS);
    },
    showError(error) {
      const { message, advice, isSignedOut } = toProblem(error);
      // The sign-in page appears instead.
      if (!isSignedOut) add({ kind: 'bad', text: message, advice });
    },
    confirm: async (requested) =>
      new Promise((resolve) => {
        confirmation.value?.answer(false);
        confirmation.value = {
          ...requested,
          answer(isConfirmed) {
            confirmation.value = undefined;
            resolve(isConfirmed);
          },
        };
      }),
  };
}
