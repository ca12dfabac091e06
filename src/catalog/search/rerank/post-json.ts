import { BodyTooLargeError, readBounded } from '../../../core/lib/read-bounded.ts';
import type { JsonObject } from '../../../core/json.ts';

const MAX_ANSWER_BYTES = 256 * 1024;

export interface EndpointRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** The reason why an endpoint gave no usable answer. The message contains neither the request nor the answer. */
export class EndpointError extends Error {}

/**
 * Posts JSON and returns the JSON of the answer. The timeout covers the whole answer, whose size is limited. Redirects are rejected,
 * because they could send the key to another host.
 */
export async function postJson({ url, headers, body }: EndpointRequest, timeoutMs: number): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new EndpointError(`it answered with HTTP status ${response.status}`);
    }
    text = await readBounded(response.body, MAX_ANSWER_BYTES, signal);
  } catch (error) {
    if (error instanceof EndpointError) throw error;
    if (error instanceof BodyTooLargeError)
      throw new EndpointError(`its answer has more than ${MAX_ANSWER_BYTES} bytes`);
    if (signal.aborted) throw new EndpointError(`it did not answer within ${timeoutMs} ms`);
    throw new EndpointError(`it cannot be reached${codeOf(error)}`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new EndpointError('its answer is not JSON');
  }
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
    ? ` (${cause.code})`
    : '';
}
