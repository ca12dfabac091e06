import { signal, type ReadonlySignal, type Signal } from '@preact/signals';

import type { AdminEvent } from '../../../src/admin/contract/contract.ts';
import { makeApi, type Api } from '../api/api.ts';
import { makeRouter, type Router } from '../lib/router.ts';
import { applyEvent } from './apply-event.ts';
import { makeLive, type LinkState } from './live.ts';
import { makeNotices, type Notices } from './notices.ts';
import type { Resource } from './resource.ts';
import { resourcesOf, type Resources } from './resources.ts';
import { makeSettle } from './settle.ts';
import { makeTheme, type Theme } from './theme.ts';

/** Everything that pages share; each page loads what it shows, events keep it fresh. */
export interface Store extends Resources {
  readonly api: Api;
  readonly router: Router;
  readonly notices: Notices;
  readonly theme: Theme;
  readonly session: ReadonlySignal<'unknown' | 'in' | 'out'>;
  /** How the stream of events fares. */
  readonly link: ReadonlySignal<LinkState>;
  /** The time, every few seconds, for texts such as "2 min ago". */
  readonly now: Signal<number>;
  /** Hears every event; the answer stops it. For pages that show what passes by. */
  readonly hear: (listener: (event: AdminEvent) => void) => () => void;
  readonly signIn: (key: string) => Promise<void>;
  readonly signOut: () => Promise<void>;
  /** Finds out whether this browser is signed in, and begins to listen. */
  readonly begin: () => Promise<void>;
}

type Clearable = Pick<Resource<unknown>, 'refresh' | 'clear'>;

const TICK_MS = 5000;

export function makeStore(window: Window & typeof globalThis): Store {
  const session = signal<'unknown' | 'in' | 'out'>('unknown');
  const now = signal(Date.now());
  const listeners = new Set<(event: AdminEvent) => void>();
  const later = (act: () => void, ms: number): number => window.setTimeout(act, ms);
  const api = makeApi({
    fetch: window.fetch.bind(window),
    onSignedOut: () => leave(),
  });
  const resources = resourcesOf(api);
  const settle = makeSettle(later);
  const all: readonly Clearable[] = Object.values(resources);
  const live = makeLive({
    connect: (url) => new window.EventSource(url),
    later,
    cancel: (timer) => window.clearTimeout(timer),
    onEvent(event) {
      applyEvent(event, resources, settle);
      for (const listener of listeners) listener(event);
    },
    onOpen: () => all.forEach((each) => each.refresh()),
    // Answers 401 where the session is over, which `onSignedOut` hears.
    onLoss: () => void api.ask('GET /api/session', {}).catch(() => {}),
  });
  const enter = (): void => {
    session.value = 'in';
    live.open();
  };
  function leave(): void {
    session.value = 'out';
    live.close();
    all.forEach((each) => each.clear());
  }
  window.setInterval(() => (now.value = Date.now()), TICK_MS);
  return {
    ...resources,
    api,
    router: makeRouter(window),
    notices: makeNotices(later),
    theme: makeTheme(window),
    session,
    link: live.state,
    now,
    hear(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async signIn(key) {
      await api.ask('POST /api/session', { key });
      enter();
    },
    async signOut() {
      await api.ask('DELETE /api/session', {});
      leave();
    },
    async begin() {
      // A gateway that is not there yet is waited for like one that went away.
      await api.ask('GET /api/session', {}).then(enter, () => session.value !== 'out' && enter());
    },
  };
}
