import type { CallRequest } from '../../gateway/calls/call-request.ts';
import { rejectOnCancel } from '../../core/lib/cancellation.ts';
import type { Payload } from '../../core/lib/payload.ts';
import { signInOwner } from '../../core/caller.ts';
import type { Caller } from '../../core/caller.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Era } from '../../core/server-facts.ts';
import { RPC_ERROR_CODES } from '../../protocol/era.ts';

interface StartedSignIn {
  readonly state: { readonly id: string; readonly url: string; readonly code?: string };
  readonly finished: Promise<{ readonly state: string; readonly problem?: string }>;
}

interface SignInOffersDeps {
  readonly startSignIn: (server: string, caller: string) => Promise<StartedSignIn>;
  /** Returns whether the caller's user works on this machine. The sign-in link works only there. */
  readonly isLocal: (caller: Caller) => boolean;
  readonly now: () => number;
}

/** A call that failed because its server requires a sign-in. */
interface FailedCall {
  readonly caller: Caller;
  readonly era: Era;
  readonly request: Pick<CallRequest, 'session' | 'requestingClient' | 'cancellation'>;
}

interface RequiredSignIn {
  readonly server: string;
  /** The command that signs in without the client's help. */
  readonly command: string;
}

/** A user who declined to sign in is not asked again during this time. */
const QUIET_MS = 5 * 60_000;
const MAX_QUIET = 1000;

/** Offers the client a sign-in link when a call fails because its server requires a sign-in. */
export class SignInOffers {
  readonly #deps: SignInOffersDeps;
  /** Open offers by session and server, so that calls of a legacy session that fail together share one offer. */
  readonly #open = new Map<string, Promise<boolean>>();
  /** The time until which nothing is offered, by session and server. */
  readonly #quietUntil = new Map<string, number>();

  constructor(deps: SignInOffersDeps) {
    this.#deps = deps;
  }

  /** Resolves with true after the user signed in. The failed call never reached its tool, so it can be made again. */
  async offer(error: unknown, call: FailedCall): Promise<boolean> {
    const { caller, era, request } = call;
    const required = requiredSignIn(error, caller);
    if (required === undefined || !this.#deps.isLocal(caller)) return false;
    const key = JSON.stringify([request.session, required.server]);
    if ((this.#quietUntil.get(key) ?? 0) > this.#deps.now()) return false;
    // A modern client receives an offer as the response to the request, so each request needs an offer of its own.
    if (era === 'modern') return this.#offer(required, key, call);
    const open = this.#open.get(key);
    // If the call that made the offer is cancelled, the calls that share the offer fail with their original errors.
    if (open !== undefined) return rejectOnCancel(open, request.cancellation).catch(() => false);
    const own = this.#offer(required, key, call).finally(() => this.#open.delete(key));
    this.#open.set(key, own);
    return own;
  }

  async #offer(
    required: RequiredSignIn,
    key: string,
    { caller, era, request }: FailedCall,
  ): Promise<boolean> {
    const { requestingClient, cancellation } = request;
    const { server } = required;
    const signIn = await this.#deps.startSignIn(server, signInOwner(caller)).catch(() => undefined);
    if (signIn === undefined || requestingClient === undefined) return false;
    const { id, url, code } = signIn.state;
    const codeText = code === undefined ? '' : ` The code is ${code}.`;
    // A server cannot imitate this beginning, because `question-origin.ts` adds a line of the gateway before every text of a server.
    const message = `Trunkline: Server "${server}" requires you to sign in. The call continues afterwards.${codeText}`;
    const link = { mode: 'url', message, url, elicitationId: era === 'legacy' ? id : undefined };
    const complete = (): void => {
      if (era === 'legacy')
        requestingClient.sendNotification?.('notifications/elicitation/complete', { elicitationId: id });
    };
    const answer = await requestingClient
      .ask('elicitation/create', link, cancellation)
      .catch((problem: unknown) => {
        if (!isNotSupported(problem)) throw problem;
        // The client can show links but cannot be asked during the call, so the link is returned in an error.
        void signIn.finished.then(({ state }) => state === 'done' && complete());
        throw new RpcError({
          code: RPC_ERROR_CODES.urlElicitationRequired,
          message,
          data: { elicitations: [link] },
        });
      });
    if (answer['action'] !== 'accept') {
      this.#suppress(key);
      return false;
    }
    const { state, problem } = await rejectOnCancel(signIn.finished, cancellation);
    if (state !== 'done') throw notSignedIn(required, problem);
    complete();
    return true;
  }

  #suppress(key: string): void {
    const oldest = this.#quietUntil.size >= MAX_QUIET ? [...this.#quietUntil.keys()][0] : undefined;
    if (oldest !== undefined) this.#quietUntil.delete(oldest);
    this.#quietUntil.set(key, this.#deps.now() + QUIET_MS);
  }
}

/** Makes a call, and makes it again if it failed for lack of a sign-in and the user then signed in. */
export function retryAfterSignIn(
  call: { readonly caller: Caller; readonly era: Era; readonly signIns: SignInOffers | undefined },
  request: CallRequest,
  make: () => Promise<Payload>,
): Promise<Payload> {
  const { caller, era, signIns } = call;
  if (signIns === undefined || !canShowLinks(request)) return make();
  return make().catch(async (error: unknown) => {
    if (!(await signIns.offer(error, { caller, era, request }))) throw error;
    return make();
  });
}

/** Returns the sign-in that this caller can do itself; only an operator can sign in for all callers. */
function requiredSignIn(error: unknown, caller: Caller): RequiredSignIn | undefined {
  if (!(error instanceof GatewayError) || error.code !== 'UPSTREAM_NEEDS_AUTH') return undefined;
  const { upstream, caller: owner, command } = error.details;
  // An error that a sign-in cannot fix names no command.
  if (typeof upstream !== 'string' || typeof command !== 'string') return undefined;
  return owner === signInOwner(caller) ? { server: upstream, command } : undefined;
}

/** Returns whether the client can show links; a client that declares `elicitation: {}` can show forms only. */
function canShowLinks({ requestingClient }: CallRequest): boolean {
  const elicitation = requestingClient?.capabilities['elicitation'];
  return isJsonObject(elicitation) && isJsonObject(elicitation['url']);
}

function isNotSupported(problem: unknown): boolean {
  return problem instanceof RpcError && problem.body.code === RPC_ERROR_CODES.methodNotFound;
}

function notSignedIn({ server, command }: RequiredSignIn, problem: string | undefined): GatewayError {
  const reason = problem === undefined ? '' : ` ${problem}`;
  const text = `The sign-in to server "${server}" was not completed.${reason} Make the call again, or run \`${command}\`.`;
  return new GatewayError('UPSTREAM_NEEDS_AUTH', text, { details: { upstream: server } });
}
