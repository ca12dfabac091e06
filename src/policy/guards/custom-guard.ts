import { GatewayError, RpcError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { stringifyExact } from '../../core/lib/exact-json.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { GuardedCall, NextGuard, OwnGuard } from '../../core/own-guard.ts';
import type { Call, Guard } from '../guard.ts';

/** Wraps a custom guard from the `guards` setting, which runs only for tool calls. Its errors and timeouts fail only the call. */
export function createCustomGuard(
  name: string,
  guard: OwnGuard,
  { timeoutMs }: { readonly timeoutMs: number },
): Guard {
  return async (call, next) => {
    const { kind, params } = call.operation;
    if (kind !== 'tool') return next(call);
    const stopwatch = new Stopwatch(timeoutMs, () =>
      guardError(name, `took longer than ${timeoutMs / 1000} s`),
    );
    // Errors of the rest of the chain pass through unchanged; they are not failures of this guard.
    let innerError: unknown;
    // Payloads by their parsed value: if the custom guard returns that value unchanged, the original payload is passed on as it is.
    const payloads = new Map<unknown, { readonly payload: Payload; readonly serialized: string }>();
    const proceed = async (changedArguments?: JsonObject): Promise<JsonObject> => {
      stopwatch.pause();
      try {
        const payload = await next(
          changedArguments === undefined ? call : withArguments(call, changedArguments),
        );
        const { value } = payload;
        if (!isJsonObject(value))
          throw new GatewayError('UPSTREAM_PROTOCOL', 'The result is not a JSON object.');
        payloads.set(value, { payload, serialized: stringifyExact(value) });
        return value;
      } catch (error) {
        innerError = error;
        throw error;
      } finally {
        stopwatch.start();
      }
    };
    try {
      stopwatch.start();
      const result: unknown = await Promise.race([
        (async () => guard(publicCall(call, params), withoutUnhandledRejection(proceed)))(),
        stopwatch.timeout,
      ]);
      if (!isJsonObject(result)) throw guardError(name, 'returned no result object');
      const original = payloads.get(result);
      // If a guard changed the value in place, the original payload does not contain the change.
      if (original !== undefined && stringifyExact(result) === original.serialized) return original.payload;
      return Payload.of(result);
    } catch (error) {
      if (error === innerError || error instanceof RpcError || error instanceof GatewayError) throw error;
      throw guardError(name, error instanceof Error ? error.message : String(error), error);
    } finally {
      stopwatch.pause();
    }
  };
}

/** Returns the part of a call that a custom guard may see. */
function publicCall(call: Call, params: JsonObject): GuardedCall {
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

/** Wraps `next` for a guard that returns without awaiting it: a rejection that nothing handles would end the process. */
function withoutUnhandledRejection(proceed: NextGuard): NextGuard {
  return (changedArguments) => {
    const result = proceed(changedArguments);
    result.catch(() => {});
    return result;
  };
}

function withArguments(call: Call, args: JsonObject): Call {
  const { operation } = call;
  return { ...call, operation: { ...operation, params: { ...operation.params, arguments: args } } };
}

function guardError(name: string, reason: string, cause?: unknown): GatewayError {
  return new GatewayError('GUARD_FAILED', `The guard ${name} stopped the call: ${reason.slice(0, 500)}`, {
    cause,
    details: { guard: name },
  });
}

/** Limits the time that the custom guard itself takes. It is paused while the rest of the chain runs. */
class Stopwatch {
  /** Rejects when the time is used up. */
  readonly timeout: Promise<never>;
  readonly #createError: () => Error;
  #leftMs: number;
  #startedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(ms: number, createError: () => Error) {
    this.#leftMs = ms;
    this.#createError = createError;
    this.timeout = new Promise((_, reject) => (this.#reject = reject));
    // The timeout may fire after the race is decided, when nothing awaits it.
    this.timeout.catch(() => undefined);
  }

  start(): void {
    this.pause();
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.#reject(this.#createError()), Math.max(1, this.#leftMs));
  }

  pause(): void {
    clearTimeout(this.#timer);
    if (this.#startedAt !== undefined) this.#leftMs -= performance.now() - this.#startedAt;
    this.#startedAt = undefined;
  }
}
