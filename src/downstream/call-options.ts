import type { CallRequest } from '../gateway/calls/call-request.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

type Options = Pick<CallRequest, 'timeoutMs' | 'onProgress'>;

const NO_OPTIONS: Options = { timeoutMs: undefined, onProgress: undefined };

interface Told {
  notify(method: string, params: JsonObject | undefined): void;
}

/** What a client may ask of the way in which its request is treated. */
export function callOptions(client: Told, params: JsonObject): Options {
  const meta = params['_meta'];
  if (!isJsonObject(meta)) return NO_OPTIONS;
  const { progressToken: token, 'trunkline/timeoutMs': timeoutMs } = meta;
  const isReported = typeof token === 'string' || typeof token === 'number';
  return {
    timeoutMs: typeof timeoutMs === 'number' && timeoutMs > 0 ? timeoutMs : undefined,
    onProgress: isReported
      ? (progress) => client.notify('notifications/progress', { ...progress, progressToken: token })
      : undefined,
  };
}
