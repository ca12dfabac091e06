import type { Cancellation } from '../lib/cancellation.ts';
import { RpcError } from '../model/errors.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import type { JsonObject } from '../model/json.ts';
import { RPC } from '../wire/era.ts';
import type { Origin } from '../wire/peer.ts';

/** What a server may want to know from the person or program behind a call. */
const QUESTIONS: ReadonlySet<string> = new Set([
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
]);

export function isQuestion(method: string): boolean {
  return QUESTIONS.has(method);
}

/**
 * Whose message it is, or undefined when that cannot be told. Over HTTP the stream tells. On a shared pipe it is certain only
 * while everything in flight has the same client behind it, and everything that was given up lately; it is never guessed and never
 * broadcast.
 */
export function placed(origin: Origin): ClientBehind | undefined {
  if (origin.own !== undefined) return origin.own;
  const last = origin.waiting.at(-1);
  if (last === undefined) return undefined;
  const isOfLast = ({ session }: ClientBehind): boolean => session === last.session;
  return origin.waiting.every(isOfLast) && origin.givenUp.every(isOfLast) ? last : undefined;
}

export function answerQuestion(
  method: string,
  params: JsonObject | undefined,
  about: {
    readonly origin: Origin;
    readonly cancellation: Cancellation;
    readonly behind?: ClientBehind | undefined;
  },
): Promise<JsonObject> {
  const { behind = placed(about.origin) } = about;
  if (behind !== undefined) return behind.ask(method, params, about.cancellation);
  // Servers ask for roots as soon as they are connected, before any client has called; none is the truth then.
  if (method === 'roots/list' && about.origin.waiting.length === 0) return Promise.resolve({ roots: [] });
  const message =
    about.origin.waiting.length === 0
      ? 'No client has a call in flight that this question could belong to.'
      : 'Several clients have calls in flight; this question could belong to any of them.';
  throw new RpcError({ code: RPC.internalError, message });
}
