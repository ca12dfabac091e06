import { stringifyExact } from '../../lib/exact-json.ts';
import type { Payload } from '../../lib/payload.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Guard } from '../call.ts';

interface Sizes {
  /** Bytes; 0 is no bound. */
  readonly argumentBytes: number;
  readonly resultBytes: number;
}

/** The payload, where it is small enough. */
function within(resultBytes: number, upstream: UpstreamName, payload: Payload): Payload {
  // A character has one byte to three, and most are decided by that.
  if (3 * payload.length <= resultBytes) return payload;
  const bytes = payload.length > resultBytes ? payload.length : payload.byteLength;
  if (bytes <= resultBytes) return payload;
  const message = `The result of server "${upstream}" is larger than ${resultBytes} bytes (limits.resultBytes) and was not passed on; the call was made. Ask for less, such as a page, a range or fewer fields.`;
  throw new GatewayError('RESULT_TOO_LARGE', message, { details: { upstream, bytes, resultBytes } });
}

/** Refuses arguments and results that are larger than the configuration allows. */
export function cap(sizesOf: (upstream: UpstreamName) => Sizes | undefined): Guard {
  return (call, next) => {
    const { upstream, params } = call.operation;
    const { argumentBytes = 0, resultBytes = 0 } = sizesOf(upstream) ?? {};
    if (argumentBytes > 0) {
      const bytes = Buffer.byteLength(stringifyExact(params['arguments'] ?? {}));
      if (bytes > argumentBytes) {
        const text = `The arguments have ${bytes} bytes, and server "${upstream}" is sent at most ${argumentBytes} (limits.argumentBytes); nothing was sent. Send less at a time.`;
        throw new GatewayError('ARGUMENTS_REFUSED', text, { details: { upstream, bytes, argumentBytes } });
      }
    }
    return resultBytes === 0
      ? next(call)
      : next(call).then((payload) => within(resultBytes, upstream, payload));
  };
}
