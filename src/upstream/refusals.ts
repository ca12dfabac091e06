import type { Credentials } from '../model/credentials.ts';
import { GatewayError } from '../model/errors.ts';
import { HttpStatusError } from '../wire/stream.ts';

type HeaderRecord = Readonly<Record<string, string>>;

/** Once with what another process has saved, and once with what we renewed ourselves. */
const MAX_REPEATS = 2;

/** What a refusal means: try again, or fail with this error; `ends` where the connection is of no use any more. */
export type Verdict = 'try-again' | { readonly error: GatewayError; readonly ends: boolean };

/** Asks the credentials about an error of a request; undefined where it is no refusal of theirs. */
export async function judgeRefusal(
  error: unknown,
  credentials: Credentials | undefined,
  { since, repeats }: { readonly since: number; readonly repeats: number },
): Promise<Verdict | undefined> {
  if (credentials === undefined) return undefined;
  // Of the source of headers: the token is gone, and nothing was sent.
  if (error instanceof GatewayError) {
    return error.code === 'UPSTREAM_NEEDS_AUTH' ? { error, ends: true } : undefined;
  }
  if (!(error instanceof HttpStatusError) || (error.status !== 401 && error.status !== 403)) return undefined;
  const { status, body } = error;
  const header = error.headers['www-authenticate'];
  const challenge = typeof header === 'string' ? header : header?.join(', ');
  const isLast = repeats >= MAX_REPEATS;
  const answer = await credentials.refused({
    ...{ status, challenge, body, since, isRepeated: repeats > 0, isLast },
  });
  if (answer !== 'try-again')
    return { error: answer, ends: status === 401 && answer.code === 'UPSTREAM_NEEDS_AUTH' };
  if (!isLast) return answer;
  return {
    error: new GatewayError('UPSTREAM_NEEDS_AUTH', 'The server keeps refusing us.', { cause: error }),
    ends: true,
  };
}

/** The configured headers without an `Authorization` that is empty but for its scheme, as an unset variable leaves it. */
export function effectiveHeaders(headers: HeaderRecord): HeaderRecord {
  const isEmpty = ([name, value]: [string, string]): boolean =>
    name.toLowerCase() === 'authorization' && /^\s*(?:bearer|basic|token)?\s*$/i.test(value);
  const entries = Object.entries(headers);
  return entries.some(isEmpty) ? Object.fromEntries(entries.filter((entry) => !isEmpty(entry))) : headers;
}

export function hasAuthorization(headers: HeaderRecord): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

/** The headers of every request: configured ones and those of the credentials, in one object while nothing changed. */
export function headerSource(
  configured: HeaderRecord,
  credentials: Credentials | undefined,
): () => HeaderRecord | Promise<HeaderRecord> {
  if (credentials === undefined) return () => configured;
  let from: HeaderRecord | undefined;
  let both = configured;
  const joined = (proof: HeaderRecord): HeaderRecord => {
    if (proof === from) return both;
    from = proof;
    both = { ...configured, ...proof };
    return both;
  };
  return () => {
    const proof = credentials.headers();
    return proof instanceof Promise ? proof.then(joined) : joined(proof);
  };
}
