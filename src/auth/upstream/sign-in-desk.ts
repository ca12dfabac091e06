import { randomUUID } from 'node:crypto';

import { deferred } from '../../lib/deferred.ts';
import { Emitter } from '../../lib/emitter.ts';
import { GatewayError } from '../../model/errors.ts';
import { openStartServer } from './browser/start-server.ts';
import type { StartServer } from './browser/start-server.ts';
import type { DevicePrompt } from './device-sign-in.ts';
import type { OfferedSignIn } from './sign-in-state.ts';
import { type Place, placeKey } from './place.ts';

type Flow = 'browser' | 'device';

/** How the signing in itself is done; the tokens are in the vault when it resolves. */
export type DoSignIn = (
  place: Place,
  how: {
    readonly flow: Flow;
    readonly open: (url: URL) => Promise<void>;
    readonly show: (prompt: DevicePrompt) => void;
    readonly signal: AbortSignal;
  },
) => Promise<{ readonly account?: string | undefined }>;

/** Nobody waits longer for a link to be opened. */
const OFFERED_MS = 10 * 60_000;
const MAX_KEPT = 200;

/** Sign-ins that are begun by a link, one at a time for each place: whoever asks again is given the same. */
export class SignInDesk implements AsyncDisposable {
  readonly events = new Emitter<{ changed: OfferedSignIn }>();
  readonly #signIn: DoSignIn;
  readonly #offers = new Map<string, Promise<Offer>>();

  constructor(signIn: DoSignIn) {
    this.#signIn = signIn;
  }

  begin(place: Place, flow: Flow = 'browser'): Promise<Offer> {
    const key = placeKey(place);
    const offer = this.at(place).then(async (before) => {
      if (before?.isOver === false && before.flow === flow) return before;
      await before?.end(new GatewayError('CALL_CANCELLED', 'Another sign-in was begun.'));
      return Offer.open(place, flow, this.#signIn, (state) => this.events.emit('changed', state));
    });
    // Whoever asks next waits for this one, so that there are never two.
    this.#offers.delete(key);
    this.#offers.set(key, offer);
    this.#forgetOldest();
    return offer;
  }

  /** The last one of this place, over or not. */
  async at(place: Place): Promise<Offer | undefined> {
    return this.#offers.get(placeKey(place))?.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const reason = new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.');
    const offers = await Promise.all([...this.#offers.values()].map((offer) => offer.catch(() => undefined)));
    await Promise.all(offers.map(async (offer) => offer?.end(reason)));
  }

  #forgetOldest(): void {
    const [key, oldest] = this.#offers.size > MAX_KEPT ? ([...this.#offers][0] ?? []) : [];
    if (key === undefined) return;
    this.#offers.delete(key);
    void oldest
      ?.then((offer) => offer.end(new GatewayError('SIGN_IN_FAILED', 'Too many sign-ins are open.')))
      .catch(() => {}); // It never began.
  }
}

/** One of them. */
export class Offer {
  readonly flow: Flow;
  /** Never rejects: how it ended is in its state. */
  readonly finished: Promise<OfferedSignIn>;
  readonly #place: Place;
  readonly #signIn: DoSignIn;
  readonly #changed: (state: OfferedSignIn) => void;
  readonly #stopping = new AbortController();
  readonly #done = deferred<OfferedSignIn>();
  readonly #timer: NodeJS.Timeout;
  #page: StartServer | undefined;
  #started: Promise<URL> | undefined;
  #state: OfferedSignIn;

  static async open(
    place: Place,
    flow: Flow,
    signIn: DoSignIn,
    changed: (state: OfferedSignIn) => void,
  ): Promise<Offer> {
    const offer = new Offer(place, flow, signIn, changed);
    if (offer.flow === 'device') await offer.#begin();
    else await offer.#openPage();
    return offer;
  }

  private constructor(place: Place, flow: Flow, signIn: DoSignIn, changed: (state: OfferedSignIn) => void) {
    this.#place = place;
    this.flow = flow;
    this.#signIn = signIn;
    this.#changed = changed;
    this.finished = this.#done.promise;
    this.#state = {
      id: randomUUID(),
      server: place.upstream,
      caller: place.caller,
      state: 'offered',
      url: '',
    };
    this.#timer = setTimeout(() => void this.end(nobodyCame()), OFFERED_MS).unref();
  }

  get state(): OfferedSignIn {
    return this.#state;
  }

  get isOver(): boolean {
    return this.#state.state === 'done' || this.#state.state === 'failed';
  }

  /** Ends it now, if it has not ended by itself. */
  async end(reason: Error): Promise<void> {
    this.#stopping.abort(reason);
    this.#over({ state: 'failed', problem: reason.message });
    await this.#page?.[Symbol.asyncDispose]();
  }

  async #openPage(): Promise<void> {
    const title = `Cannot sign in to ${this.#place.upstream}`;
    this.#page = await openStartServer({ title, visit: () => (this.#started ??= this.#begin()) });
    this.#set({ url: this.#page.url });
  }

  /** Resolves with where the person is to go; how it ends is told by `finished`. */
  #begin(): Promise<URL> {
    const started = deferred<URL>();
    clearTimeout(this.#timer);
    const how = {
      flow: this.flow,
      open: (url: URL): Promise<void> => {
        this.#set({ state: 'open' });
        return Promise.resolve(started.resolve(url));
      },
      show: ({ url, code, complete }: DevicePrompt): void => {
        this.#set({ state: 'open', url: complete ?? url, code });
        started.resolve(new URL(url));
      },
      signal: this.#stopping.signal,
    };
    this.#signIn(this.#place, how)
      .then(({ account }) => this.#over({ state: 'done', ...(account !== undefined && { account }) }))
      .catch((error: unknown) => {
        started.reject(error);
        this.#over({ state: 'failed', problem: error instanceof Error ? error.message : String(error) });
      })
      .finally(() => void this.#page?.[Symbol.asyncDispose]());
    // Whoever opened the link is told; the device flow may have nobody who waits.
    started.promise.catch(() => {});
    return started.promise;
  }

  #over(end: Pick<OfferedSignIn, 'state' | 'problem' | 'account'>): void {
    if (this.isOver) return;
    clearTimeout(this.#timer);
    this.#set(end);
    this.#done.resolve(this.#state);
  }

  #set(changes: Partial<OfferedSignIn>): void {
    this.#state = { ...this.#state, ...changes };
    this.#changed(this.#state);
  }
}

function nobodyCame(): GatewayError {
  const text = `Nobody opened the link within ${OFFERED_MS / 60_000} minutes. Nothing was saved; try again.`;
  return new GatewayError('SIGN_IN_FAILED', text);
}
