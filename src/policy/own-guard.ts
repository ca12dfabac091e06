import { Payload } from '../lib/payload.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { GuardedCall, NextGuard, OwnGuard } from '../model/own-guard.ts';
import type { Call, Guard } from './call.ts';

/** A guard of a person's own in the chain. Whatever it does wrong fails the call and nothing else. */
export function ownGuard(
  name: string,
  guard: OwnGuard,
  { timeoutMs }: { readonly timeoutMs: number },
): Guard {
  return async (call, next) => {
    const { kind, params } = call.operation;
    if (kind !== 'tool') return next(call);
    const clock = new OwnTime(timeoutMs, () => failure(name, `took longer than ${timeoutMs / 1000} s`));
    // What the rest of the chain said is not the guard's mistake.
    let theirs: unknown;
    const payloads = new Map<unknown, Payload>();
    const proceed = async (changed?: JsonObject): Promise<JsonObject> => {
      clock.pause();
      try {
        const inner = changed === undefined ? call : withArguments(call, changed);
        const payload = await next(inner);
        const { value } = payload;
        if (!isJsonObject(value)) throw new GatewayError('UPSTREAM_PROTOCOL', 'The result is no object.');
        payloads.set(value, payload);
        return value;
      } catch (error) {
        theirs = error;
        throw error;
      } finally {
        clock.go();
      }
    };
    try {
      clock.go();
      const result: unknown = await Promise.race([
        (async () => guard(facts(call, params), heeded(proceed)))(),
        clock.over,
      ]);
      const payload = payloads.get(result);
      if (payload !== undefined) return payload;
      if (!isJsonObject(result)) throw failure(name, 'gave no result');
      return Payload.of(result);
    } catch (error) {
      if (error === theirs || error instanceof RpcError || error instanceof GatewayError) throw error;
      throw failure(name, error instanceof Error ? error.message : String(error), error);
    } finally {
      clock.pause();
    }
  };
}

/** A guard that does not wait for the rest of the chain has nobody who hears of its failure, and that is its business. */
function heeded(proceed: NextGuard): NextGuard {
  return (changed) => {
    const result = proceed(changed);
    result.catch(() => {});
    return result;
  };
}

function facts(call: Call, params: JsonObject): GuardedCall {
  const { caller, operation, cancellation } = call;
  const args = params['arguments'];
  return {
    caller: { id: caller.id, profile: caller.profile },
    server: operation.upstream,
    tool: typeof params['name'] === 'string' ? params['name'] : '',
    name: operation.entry?.kind === 'tool' ? operation.entry.name : '',
    arguments: isJsonObject(args) ? args : {},
    get isCancelled() {
      return cancellation.reason !== undefined;
    },
  };
}

function withArguments(call: Call, args: JsonObject): Call {
  const { operation } = call;
  return { ...call, operation: { ...operation, params: { ...operation.params, arguments: args } } };
}

function failure(name: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError('GUARD_FAILED', `The guard ${name} stopped the call: ${why.slice(0, 500)}`, {
    cause,
    details: { guard: name },
  });
}

/** Counts while the guard itself works, and not while the call is under way. */
class OwnTime {
  readonly over: Promise<never>;
  readonly #error: () => Error;
  #leftMs: number;
  #since: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #end: (error: Error) => void = () => undefined;

  constructor(ms: number, error: () => Error) {
    this.#leftMs = ms;
    this.#error = error;
    this.over = new Promise((_, reject) => (this.#end = reject));
    // It may end when nobody looks any more.
    this.over.catch(() => undefined);
  }

  go(): void {
    this.pause();
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#end(this.#error()), Math.max(1, this.#leftMs));
  }

  pause(): void {
    clearTimeout(this.#timer);
    if (this.#since !== undefined) this.#leftMs -= performance.now() - this.#since;
    this.#since = undefined;
  }
}
