import { randomUUID } from 'node:crypto';

import { GatewayError } from '../../core/errors.ts';
import { deferred } from '../../core/lib/deferred.ts';
import { Emitter } from '../../core/lib/emitter.ts';
import { openLinkServer } from './browser/link-server.ts';
import type { LinkServer } from './browser/link-server.ts';
import type { DevicePrompt } from './device-sign-in.ts';
import { type SignInId, signInKey } from './sign-in-id.ts';
import type { OfferedSignIn } from './sign-in-status.ts';

type LinkFlow = 'browser' | 'device';

/** Performs the sign-in; the tokens are in the vault when it resolves. */
type PerformSignIn = (
  signInId: SignInId,
  options: {
    readonly flow: LinkFlow;
    readonly open: (url: URL) => Promise<void>;
    readonly show: (prompt: DevicePrompt) => void;
    readonly signal: AbortSignal;
  },
) => Promise<{ readonly account?: string | undefined }>;

/** Time within which a link must be opened. */
const LINK_MS = 10 * 60_000;
const MAX_LINKS = 200;

/** Manages the sign-ins that start with a link. Each sign-in id has at most one open link, which all requests for it share. */
export class SignInLinks implements AsyncDisposable {
  readonly events = new Emitter<{ changed: OfferedSignIn }>();
  readonly #performSignIn: PerformSignIn;
  readonly #links = new Map<string, Promise<SignInLink>>();

  constructor(performSignIn: PerformSignIn) {
    this.#performSignIn = performSignIn;
  }

  start(signInId: SignInId, flow: LinkFlow = 'browser'): Promise<SignInLink> {
    const key = signInKey(signInId);
    const link = this.find(signInId).then(async (previous) => {
      if (previous?.isFinished === false && previous.flow === flow) return previous;
      await previous?.end(new GatewayError('CALL_CANCELLED', 'Another sign-in was started.'));
      return SignInLink.open(signInId, flow, this.#performSignIn, (state) =>
        this.events.emit('changed', state),
      );
    });
    // The promise is stored at once, so a concurrent call waits for it instead of opening a second link. Deleting the key first moves the
    // link to the end of the map, so that it is evicted last.
    this.#links.delete(key);
    this.#links.set(key, link);
    this.#evictOldest();
    return link;
  }

  /** Returns the last link of this sign-in, even if it has ended. */
  async find(signInId: SignInId): Promise<SignInLink | undefined> {
    return this.#links.get(signInKey(signInId))?.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const reason = new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.');
    const links = await Promise.all([...this.#links.values()].map((link) => link.catch(() => undefined)));
    await Promise.all(links.map(async (link) => link?.end(reason)));
  }

  #evictOldest(): void {
    const [key, oldest] = this.#links.size > MAX_LINKS ? ([...this.#links][0] ?? []) : [];
    if (key === undefined) return;
    this.#links.delete(key);
    void oldest
      ?.then((link) => link.end(new GatewayError('SIGN_IN_FAILED', 'Too many sign-ins are open.')))
      .catch(() => {}); // A link that failed to open need not be ended.
  }
}

/** A sign-in that starts when a person opens its link; with the device flow, it starts at once. */
export class SignInLink {
  readonly flow: LinkFlow;
  /** Resolves with the final state; a failure is part of the state. Never rejects. */
  readonly finished: Promise<OfferedSignIn>;
  readonly #signInId: SignInId;
  readonly #performSignIn: PerformSignIn;
  readonly #onChange: (state: OfferedSignIn) => void;
  readonly #abort = new AbortController();
  readonly #end = deferred<OfferedSignIn>();
  readonly #timer: NodeJS.Timeout;
  #server: LinkServer | undefined;
  #started: Promise<URL> | undefined;
  #state: OfferedSignIn;

  static async open(
    signInId: SignInId,
    flow: LinkFlow,
    performSignIn: PerformSignIn,
    onChange: (state: OfferedSignIn) => void,
  ): Promise<SignInLink> {
    const link = new SignInLink(signInId, flow, performSignIn, onChange);
    if (flow === 'device') await link.#start();
    else await link.#openServer();
    return link;
  }

  private constructor(
    signInId: SignInId,
    flow: LinkFlow,
    performSignIn: PerformSignIn,
    onChange: (state: OfferedSignIn) => void,
  ) {
    this.#signInId = signInId;
    this.flow = flow;
    this.#performSignIn = performSignIn;
    this.#onChange = onChange;
    this.finished = this.#end.promise;
    this.#state = {
      id: randomUUID(),
      server: signInId.upstream,
      caller: signInId.caller,
      state: 'offered',
      url: '',
    };
    this.#timer = setTimeout(() => void this.end(linkExpired()), LINK_MS).unref();
  }

  get state(): OfferedSignIn {
    return this.#state;
  }

  get isFinished(): boolean {
    return this.#state.state === 'done' || this.#state.state === 'failed';
  }

  /** Ends the sign-in now, unless it has ended. */
  async end(reason: Error): Promise<void> {
    this.#abort.abort(reason);
    this.#finish({ state: 'failed', problem: reason.message });
    await this.#server?.[Symbol.asyncDispose]();
  }

  async #openServer(): Promise<void> {
    const title = `Cannot sign in to ${this.#signInId.upstream}`;
    this.#server = await openLinkServer({ title, onVisit: () => (this.#started ??= this.#start()) });
    this.#update({ url: this.#server.url });
  }

  /** Starts the sign-in, and resolves with the address that the person must open. `finished` reports how the sign-in ends. */
  #start(): Promise<URL> {
    const started = deferred<URL>();
    clearTimeout(this.#timer);
    this.#performSignIn(this.#signInId, {
      flow: this.flow,
      open: (url) => {
        this.#update({ state: 'open' });
        return Promise.resolve(started.resolve(url));
      },
      show: ({ url, code, complete }) => {
        this.#update({ state: 'open', url: complete ?? url, code });
        started.resolve(new URL(url));
      },
      signal: this.#abort.signal,
    })
      .then(({ account }) => this.#finish({ state: 'done', account }))
      .catch((error: unknown) => {
        started.reject(error);
        this.#finish({ state: 'failed', problem: error instanceof Error ? error.message : String(error) });
      })
      .finally(() => void this.#server?.[Symbol.asyncDispose]());
    // The caller receives the same rejection. This handler only prevents an unhandled rejection.
    started.promise.catch(() => {});
    return started.promise;
  }

  #finish(end: Pick<OfferedSignIn, 'state' | 'problem' | 'account'>): void {
    if (this.isFinished) return;
    clearTimeout(this.#timer);
    this.#update(end);
    this.#end.resolve(this.#state);
  }

  #update(changes: Partial<OfferedSignIn>): void {
    this.#state = { ...this.#state, ...changes };
    this.#onChange(this.#state);
  }
}

function linkExpired(): GatewayError {
  const text = `The link was not opened within ${LINK_MS / 60_000} minutes. Nothing was saved; try again.`;
  return new GatewayError('SIGN_IN_FAILED', text);
}
