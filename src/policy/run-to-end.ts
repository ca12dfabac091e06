import type { Payload } from '../lib/payload.ts';
import type { Call, Next } from './call.ts';

/**
 * Makes the call and tells its `ends`, the last one first, before whoever waits for it. One promise for all of them: where every guard
 * waited by itself a call took three more, each with its functions a quarter of a kilobyte of garbage.
 */
export function runToEnd(run: Next, call: Call, answered?: (payload: Payload) => Payload): Promise<Payload> {
  return run(call).then(
    (payload) => {
      end(call, payload, undefined);
      return answered === undefined ? payload : answered(payload);
    },
    (error: unknown) => {
      end(call, undefined, error);
      throw error;
    },
  );
}

/** All of them, also where one throws. */
function end(call: Call, payload: Payload | undefined, error: unknown): void {
  const told = call.ends.pop();
  if (told === undefined) return;
  try {
    told.over(payload, error);
  } finally {
    end(call, payload, error);
  }
}
