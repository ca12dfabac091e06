import type { JsonObject } from '../../model/json.ts';

const MAX_ANSWER_BYTES = 256 * 1024;

export interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** Why there is no answer, in words that hold nothing of the answer nor of what was sent. */
export class NoAnswer extends Error {}

/** Posts and reads JSON. The time includes the last byte, the answer is bounded, and nobody sends us elsewhere with a key in hand. */
export async function ask({ url, headers, body }: Request, timeoutMs: number): Promise<unknown> {
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
      throw new NoAnswer(`it answered with HTTP status ${response.status}`);
    }
    text = await readText(response);
  } catch (error) {
    if (error instanceof NoAnswer) throw error;
    if (signal.aborted) throw new NoAnswer(`it did not answer within ${timeoutMs} ms`);
    throw new NoAnswer(`it cannot be reached${codeOf(error)}`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new NoAnswer('its answer is not JSON');
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // The types of the platform do not say what a body consists of.
  const body: AsyncIterable<Uint8Array> | null = response.body;
  if (body === null) return '';
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new NoAnswer(`its answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
    ? ` (${cause.code})`
    : '';
}
