import type { CallRequest } from '../gateway/calls/call-request.ts';
import { orCancelled } from '../lib/cancellation.ts';
import type { Payload } from '../lib/payload.ts';
import { signInOf } from '../model/caller.ts';
import type { Caller } from '../model/caller.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import { RPC } from '../wire/era.ts';

/** A sign-in that was begun for a person. */
interface Begun {
  readonly state: { readonly id: string; readonly url: string; readonly code?: string };
  readonly finished: Promise<{ readonly state: string; readonly problem?: string }>;
}

interface OffersDeps {
  readonly begin: (server: string, caller: string) => Promise<Begun>;
  /** Whether the person behind this caller sits at this machine, where the link leads. */
  readonly isHere: (caller: Caller) => boolean;
  readonly now: () => number;
}

interface Refused {
  readonly caller: Caller;
  readonly era: Era;
  readonly request: Pick<CallRequest, 'session' | 'behind' | 'cancellation'>;
}

interface Needed {
  readonly server: string;
  /** That mends it elsewhere. */
  readonly command: string;
}

/** Whoever does not want to sign in now is not asked with every call. */
const QUIET_MS = 5 * 60_000;
const MAX_QUIET = 1000;

/** Offers a link to clients that can show one when a call fails for want of a sign-in. */
export class SignInOffers {
  readonly #deps: OffersDeps;
  /** Calls of one session that fail together are one question. */
  readonly #asking = new Map<string, Promise<boolean>>();
  readonly #quietUntil = new Map<string, number>();

  constructor(deps: OffersDeps) {
    this.#deps = deps;
  }

  /** True where somebody has signed in because of it, so that the same call can succeed now; it never reached the tool. */
  async mend(error: unknown, refused: Refused): Promise<boolean> {
    const { caller, era, request } = refused;
    const needed = neededBy(error, caller);
    if (needed === undefined || !this.#deps.isHere(caller)) return false;
    const key = JSON.stringify([request.session, needed.server]);
    if ((this.#quietUntil.get(key) ?? 0) > this.#deps.now()) return false;
    // Modern requests are one each: whoever is answered with a question has to be asked it.
    if (era === 'modern') return this.#offer(needed, key, refused);
    const asking = this.#asking.get(key);
    // Whoever asked may have gone; that is no answer for the others.
    if (asking !== undefined) return orCancelled(asking, request.cancellation).catch(() => false);
    const own = this.#offer(needed, key, refused).finally(() => this.#asking.delete(key));
    this.#asking.set(key, own);
    return own;
  }

  async #offer(needed: Needed, key: string, { caller, era, request }: Refused): Promise<boolean> {
    const { behind, cancellation } = request;
    const { server } = needed;
    const begun = await this.#deps.begin(server, signInOf(caller)).catch(() => undefined);
    if (begun === undefined || behind === undefined) return false;
    const { id, url, code } = begun.state;
    const typed = code === undefined ? '' : ` The code is ${code}.`;
    const message = `Server "${server}" wants you to sign in. The call goes on when you have.${typed}`;
    const link = { mode: 'url', message, url, ...(era === 'legacy' && { elicitationId: id }) };
    const complete = (): void => {
      if (era === 'legacy') behind.tell?.('notifications/elicitation/complete', { elicitationId: id });
    };
    const answer = await behind.ask('elicitation/create', link, cancellation).catch((problem: unknown) => {
      if (!isWithoutWay(problem)) throw problem;
      // It can show links, and there is no way to ask it during the call.
      void begun.finished.then(({ state }) => state === 'done' && complete());
      throw new RpcError({ code: RPC.pagesRequired, message, data: { elicitations: [link] } });
    });
    if (answer['action'] !== 'accept') {
      this.#beQuiet(key);
      return false;
    }
    const { state, problem } = await orCancelled(begun.finished, cancellation);
    if (state !== 'done') throw notSignedIn(needed, problem);
    complete();
    return true;
  }

  #beQuiet(key: string): void {
    const oldest = this.#quietUntil.size >= MAX_QUIET ? [...this.#quietUntil.keys()][0] : undefined;
    if (oldest !== undefined) this.#quietUntil.delete(oldest);
    this.#quietUntil.set(key, this.#deps.now() + QUIET_MS);
  }
}

/** Once more after somebody signed in for it, where the client could be asked to. */
export function mended(
  { caller, signIns }: { readonly caller: Caller; readonly signIns?: SignInOffers | undefined },
  era: Era,
  request: CallRequest,
  make: () => Promise<Payload>,
): Promise<Payload> {
  if (signIns === undefined || !canBeOffered(request)) return make();
  return make().catch(async (error: unknown) => {
    if (!(await signIns.mend(error, { caller, era, request }))) throw error;
    return make();
  });
}

/** The server that this caller can sign in to; others may sign in for all only where they administer. */
function neededBy(error: unknown, caller: Caller): Needed | undefined {
  if (!(error instanceof GatewayError) || error.code !== 'UPSTREAM_NEEDS_AUTH') return undefined;
  const { upstream, caller: whose, command } = error.details;
  // Only what a sign-in mends has a command that mends it.
  if (typeof upstream !== 'string' || typeof command !== 'string') return undefined;
  return whose === signInOf(caller) ? { server: upstream, command } : undefined;
}

/** Whether the client can show links; `elicitation: {}` means forms alone. */
function canBeOffered({ behind }: CallRequest): boolean {
  const elicitation = behind?.capabilities['elicitation'];
  return isJsonObject(elicitation) && isJsonObject(elicitation['url']);
}

function isWithoutWay(problem: unknown): boolean {
  return problem instanceof RpcError && problem.body.code === RPC.methodNotFound;
}

function notSignedIn({ server, command }: Needed, problem: string | undefined): GatewayError {
  const why = problem === undefined ? '' : ` ${problem}`;
  const text = `Nobody has signed in to server "${server}" yet: call it again, or run \`${command}\`.${why}`;
  return new GatewayError('UPSTREAM_NEEDS_AUTH', text, { details: { upstream: server } });
}
