import { signal, type ReadonlySignal } from '@preact/signals';

import type { AdminEvent } from '../../../src/admin/contract/contract.ts';

const eventNames = [
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

/** `off`: not opened, or closed on purpose; `lost`: the connection failed and will be opened again. */
export type ConnectionState = 'off' | 'connecting' | 'live' | 'lost';

/** The connection to the event stream of the gateway. It reconnects until it is closed. */
export interface EventConnection {
  readonly state: ReadonlySignal<ConnectionState>;
  readonly open: () => void;
  readonly close: () => void;
}

interface EventConnectionOptions {
  readonly connect: (url: string) => EventSource;
  readonly setTimer: (callback: () => void, ms: number) => number;
  readonly clearTimer: (timer: number) => void;
  readonly onEvent: (event: AdminEvent) => void;
  /** Called when the stream has opened. After a reconnect, loaded data may be outdated. */
  readonly onOpen: () => void;
  /** Called when the stream fails, perhaps because the session has ended. */
  readonly onLoss: () => void;
}

/** The delay before the first reconnect. It doubles with every failed attempt, up to the maximum. */
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;

export function createEventConnection({
  connect,
  setTimer,
  clearTimer,
  onEvent,
  onOpen,
  onLoss,
}: EventConnectionOptions): EventConnection {
  const state = signal<ConnectionState>('off');
  let source: EventSource | undefined;
  let timer: number | undefined;
  let delayMs = FIRST_DELAY_MS;

  const close = (): void => {
    source?.close();
    source = undefined;
    if (timer !== undefined) clearTimer(timer);
    timer = undefined;
    state.value = 'off';
  };
  const handleLoss = (): void => {
    // EventSource does not reconnect after a response that is not a stream, such as a proxy's error page, so this code reconnects.
    source?.close();
    source = undefined;
    state.value = 'lost';
    timer = setTimer(open, delayMs);
    delayMs = Math.min(MAX_DELAY_MS, delayMs * 2);
    onLoss();
  };
  function open(): void {
    close();
    state.value = 'connecting';
    const opened = connect('/api/events');
    source = opened;
    opened.addEventListener('open', () => {
      delayMs = FIRST_DELAY_MS;
      state.value = 'live';
      onOpen();
    });
    opened.addEventListener('error', () => {
      if (source === opened) handleLoss();
    });
    for (const name of eventNames) {
      opened.addEventListener(name, (message: MessageEvent<string>) => {
        onEvent({ event: name, data: JSON.parse(message.data) as never });
      });
    }
  }
  return { state, open, close };
}
