import { traceOf, withTrace } from '../../observe/telemetry/trace-context.ts';
import type { Guard } from '../call.ts';

/** Gives each call a span, and tells the server that its work belongs below it. Only there where traces are exported. */
export function trace(): Guard {
  return (call, next) => {
    const { operation } = call;
    const ids = traceOf(operation.params);
    return next({
      ...call,
      trace: ids,
      operation: { ...operation, params: withTrace(operation.params, ids) },
    });
  };
}
