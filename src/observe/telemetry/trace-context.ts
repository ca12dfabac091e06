import { randomPiece } from '../../lib/random-piece.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { TraceIds } from '../ended-call.ts';

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** The span of a call: in the trace that `_meta.traceparent` names, or the first of a new one. */
export function traceOf(params: JsonObject): TraceIds {
  const meta = params['_meta'];
  const given = isJsonObject(meta) ? meta['traceparent'] : undefined;
  const [, traceId, parentId, flags = '01'] = (typeof given === 'string' && TRACEPARENT.exec(given)) || [];
  const spanId = randomPiece(8).toString('hex');
  if (traceId === undefined || parentId === undefined)
    return { traceId: randomPiece(16).toString('hex'), spanId, isSampled: true };
  return { traceId, spanId, parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The parameters for the server, which continues the trace below our span; `tracestate` stays as it is. */
export function withTrace(params: JsonObject, { traceId, spanId, isSampled }: TraceIds): JsonObject {
  const meta = params['_meta'];
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
  return { ...params, _meta: { ...(isJsonObject(meta) ? meta : {}), traceparent } };
}
