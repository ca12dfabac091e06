import { signal, type ReadonlySignal } from '@preact/signals';

import type { AdminEvent } from '../../../src/admin/contract/contract.ts';

const names = [
  'hello',
  'reset',
  'server',
  'server-gone',
  'catalog',
  'approvals',
  'record',
  'config',
  'sign-in',
  'keys',
  'tick',
] as const satisfies readonly AdminEvent['event'][];

export type LinkState = 'off' | 'connecting' | 'live' | 'lost';

/** The one stream of everything that changes; it comes back by itself until it is closed. */
export interface Live {
  readonly state: ReadonlySignal<LinkState>;
  readonly open: () => void;
  readonly close: () => void;
}

interface LiveOptions {
  readonly connect: (url: string) => EventSource;
  readonly later: (act: () => void, ms: number) => number;
  readonly cancel: (timer: number) => void;
  readonly onEvent: (event: AdminEvent) => void;
  /** Back after a loss, or for the first time: what was shown before may be old. */
  readonly onOpen: () => void;
  /** It could not be opened: perhaps the session is over. */
  readonly onLoss: () => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

export function makeLive({ connect, later, cancel, onEvent, onOpen, onLoss }: LiveOptions): Live {
  const state = signal<LinkState>('off');
  let source: EventSource | undefined;
  let timer: number | undefined;
  let waitMs = FIRST_WAIT_MS;

  const close = (): void => {
    source?.close();
    source = undefined;
    if (timer !== undefined) cancel(timer);
    timer = undefined;
    state.value = 'off';
  };
  const lose = (): void => {
    // The browser's own attempts give up at an answer that is no stream, such as a proxy's error page; ours do not.
    source?.close();
    source = undefined;
    state.value = 'lost';
    timer = later(open, waitMs);
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
    onLoss();
  };
  function open(): void {
    close();
    state.value = 'connecting';
    const opened = connect('/api/events');
    source = opened;
    opened.addEventListener('open', () => {
      waitMs = FIRST_WAIT_MS;
      state.value = 'live';
      onOpen();
    });
    opened.addEventListener('error', () => {
      if (source === opened) lose();
    });
    for (const name of names) {
      opened.addEventListener(name, (message: MessageEvent<string>) => {
        onEvent({ event: name, data: JSON.parse(message.data) as never });
      });
    }
  }
  return { state, open, close };
}
