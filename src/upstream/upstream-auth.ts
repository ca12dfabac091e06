import type { Credentials } from '../core/credentials.ts';
import { GatewayError } from '../core/errors.ts';
import { HttpStatusError } from '../protocol/client-transport.ts';

type HeaderRecord = Readonly<Record<string, string>>;

/** A request is repeated at most twice: once with a newer token that is already stored, and once with a refreshed token. */
const MAX_REPEATS = 2;

/** Either the request can be sent again, or it fails with `error`. If `endsConnection` is true, the connection can no longer be used. */
type RefusalOutcome = 'try-again' | { readonly error: GatewayError; readonly endsConnection: boolean };

/**
 * Asks the credentials how to continue after a failed request. Returns undefined if the error does not concern the credentials.
 * `since` is the time when the request started, and `repeats` is how often it has been repeated.
 */
export async function handleRefusal(
  error: unknown,
  credentials: Credentials | undefined,
  { since, repeats }: { readonly since: number; readonly repeats: number },
): Promise<RefusalOutcome | undefined> {
  if (credentials === undefined) return undefined;
  // UPSTREAM_NEEDS_AUTH comes from the header provider: it has no token, so the request was not sent.
  if (error instanceof GatewayError) {
    return error.code === 'UPSTREAM_NEEDS_AUTH' ? { error, endsConnection: true } : undefined;
  }
  if (!(error instanceof HttpStatusError) || (error.status !== 401 && error.status !== 403)) return undefined;
  const { status, body } = error;
  const header = error.headers['www-authenticate'];
  const challenge = typeof header === 'string' ? header : header?.join(', ');
  const isLast = repeats >= MAX_REPEATS;
  const isRepeated = repeats > 0;
  const decision = await credentials.handleRefusal({ status, challenge, body, since, isRepeated, isLast });
  if (decision !== 'try-again')
    return { error: decision, endsConnection: status === 401 && decision.code === 'UPSTREAM_NEEDS_AUTH' };
  if (!isLast) return decision;
  const message = `The server refused the credentials ${repeats + 1} times, although the token was refreshed (HTTP ${status}). Sign in again with trunkline login.`;
  return {
    error: new GatewayError('UPSTREAM_NEEDS_AUTH', message, { cause: error }),
    endsConnection: true,
  };
}

/** Combines the configured headers with those of the credentials; returns the same object until the credentials change. */
export function createHeaderProvider(
  configured: HeaderRecord,
  credentials: Credentials | undefined,
): () => HeaderRecord | Promise<HeaderRecord> {
  if (credentials === undefined) return () => configured;
  let previous: HeaderRecord | undefined;
  let combined = configured;
  const combine = (authHeaders: HeaderRecord): HeaderRecord => {
    if (authHeaders === previous) return combined;
    previous = authHeaders;
    combined = { ...configured, ...authHeaders };
    return combined;
  };
  return () => {
    const authHeaders = credentials.headers();
    return authHeaders instanceof Promise ? authHeaders.then(combine) : combine(authHeaders);
  };
}
