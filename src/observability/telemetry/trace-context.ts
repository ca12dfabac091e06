import { pooledRandomBytes } from '../../core/lib/pooled-random-bytes.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { TraceIds } from '../completed-call.ts';

/** The W3C `traceparent`: version, trace id, parent id and flags. Ids of zeros and version `ff` are invalid. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** Creates the span ids of a call: in the trace that `_meta.traceparent` names, or in a new one. */
export function readTraceContext(params: JsonObject): TraceIds {
  const meta = params['_meta'];
  const traceparent = isJsonObject(meta) ? meta['traceparent'] : undefined;
  const [, traceId, parentId, flags = '01'] =
    (typeof traceparent === 'string' && TRACEPARENT.exec(traceparent)) || [];
  const spanId = pooledRandomBytes(8).toString('hex');
  if (traceId === undefined || parentId === undefined)
    return { traceId: pooledRandomBytes(16).toString('hex'), spanId, isSampled: true };
  return { traceId, spanId, parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Returns the parameters for the server, which continues the trace below our span. `tracestate` is not changed. */
export function addTraceContext(params: JsonObject, { traceId, spanId, isSampled }: TraceIds): JsonObject {
  const meta = params['_meta'];
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
  return { ...params, _meta: { ...(isJsonObject(meta) ? meta : {}), traceparent } };
}
