import { signal, type ReadonlySignal, type Signal } from '@preact/signals';

import type { AdminEvent } from '../../../src/admin/contract/contract.ts';
import { createApi, type Api } from '../api/api.ts';
import { createRouter, type Router } from '../lib/router.ts';
import { applyEvent } from './apply-event.ts';
import { createCallHistory, type CallHistory } from './call-history.ts';
import { createEventConnection, type ConnectionState } from './event-connection.ts';
import { createNotices, type Notices } from './notices.ts';
import { createRefreshScheduler } from './refresh-scheduler.ts';
import type { Resource } from './resource.ts';
import { createResources, type Resources } from './resources.ts';
import { createTheme, type Theme } from './theme.ts';

/** The state that all pages share. Each page loads the resources that it shows, and events keep them up to date. */
export interface Store extends Resources {
  readonly api: Api;
  readonly router: Router;
  readonly notices: Notices;
  readonly theme: Theme;
  readonly history: CallHistory;
  readonly session: ReadonlySignal<'unknown' | 'signed-in' | 'signed-out'>;
  /** The state of the event stream. */
  readonly connection: ReadonlySignal<ConnectionState>;
  /** The current time, updated every five seconds, for texts such as "2 min ago". */
  readonly now: Signal<number>;
  /** Calls the listener for each event. Returns a function that unsubscribes it. */
  readonly subscribe: (listener: (event: AdminEvent) => void) => () => void;
  readonly signIn: (key: string) => Promise<void>;
  readonly signOut: () => Promise<void>;
  /** Checks whether this browser is signed in, and connects to the event stream unless it is signed out. */
  readonly start: () => Promise<void>;
}

type AnyResource = Pick<Resource<unknown>, 'refresh' | 'clear'>;

const CLOCK_INTERVAL_MS = 5000;

export function createStore(window: Window & typeof globalThis): Store {
  const session = signal<'unknown' | 'signed-in' | 'signed-out'>('unknown');
  const listeners = new Set<(event: AdminEvent) => void>();
  const setTimer = (callback: () => void, ms: number): number => window.setTimeout(callback, ms);
  const api = createApi({
    fetch: window.fetch.bind(window),
    onSignedOut: () => leave(),
  });
  const resources = createResources(api);
  const scheduleRefresh = createRefreshScheduler(setTimer);
  const allResources: readonly AnyResource[] = Object.values(resources);
  const connection = createEventConnection({
    connect: (url) => new window.EventSource(url),
    setTimer,
    clearTimer: (timer) => window.clearTimeout(timer),
    onEvent(event) {
      applyEvent(event, resources, scheduleRefresh);
      for (const listener of listeners) listener(event);
    },
    onOpen: () => allResources.forEach((resource) => resource.refresh()),
    // If the session has ended, the response is 401, and `onSignedOut` is called.
    onLoss: () => void api.request('GET /api/session', {}).catch(() => {}),
  });
  const history = createCallHistory(() => window.localStorage);
  const enter = (): void => {
    session.value = 'signed-in';
    connection.open();
  };
  function leave(): void {
    session.value = 'signed-out';
    connection.close();
    allResources.forEach((resource) => resource.clear());
  }
  return {
    ...resources,
    api,
    router: createRouter(window),
    notices: createNotices(setTimer),
    theme: createTheme(window),
    history,
    session,
    connection: connection.state,
    now: createClock(window),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async signIn(key) {
      await api.request('POST /api/session', { key });
      enter();
    },
    async signOut() {
      await api.request('DELETE /api/session', {});
      history.clear();
      leave();
    },
    async start() {
      // If the gateway does not respond, the event stream reconnects until it does, as after a lost connection.
      await api.request('GET /api/session', {}).then(enter, () => session.value !== 'signed-out' && enter());
    },
  };
}

function createClock(window: Window): Signal<number> {
  const now = signal(Date.now());
  window.setInterval(() => (now.value = Date.now()), CLOCK_INTERVAL_MS);
  return now;
}
