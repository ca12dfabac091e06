import type { CallRequest } from '../gateway/calls/call-request.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

const NO_OPTIONS = {};

interface Told {
  notify(method: string, params: JsonObject | undefined): void;
}

/** What a client may ask of the way in which its request is treated. */
export function callOptions(client: Told, params: JsonObject): Pick<CallRequest, 'timeoutMs' | 'onProgress'> {
  const meta = params['_meta'];
  if (!isJsonObject(meta)) return NO_OPTIONS;
  const { progressToken: token, 'trunkline/timeoutMs': timeoutMs } = meta;
  return {
    ...(typeof timeoutMs === 'number' && timeoutMs > 0 ? { timeoutMs } : {}),
    ...(typeof token === 'string' || typeof token === 'number'
      ? {
          onProgress: (progress) =>
            client.notify('notifications/progress', { ...progress, progressToken: token }),
        }
      : {}),
  };
}
