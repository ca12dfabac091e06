import type { SignInTarget } from '../../auth/upstream/prepare-sign-in.ts';
import type { SignInStatus } from '../../auth/upstream/sign-in-state.ts';
import type { UpstreamConfig } from '../../config/config.ts';

const UNREADABLE =
  'Its saved tokens cannot be decrypted: the key they were saved with is no longer in secret.key. Restore that file, or sign in again.';

/** What is known of the sign-in to one server; nothing is asked of it. */
export async function signInStatus(
  config: UpstreamConfig,
  caller: string,
  { vault, now }: Pick<SignInTarget, 'vault' | 'now'>,
): Promise<SignInStatus> {
  const common = { server: config.name, caller };
  const headers = config.transport.kind === 'http' ? Object.keys(config.transport.headers) : [];
  if (headers.some((name) => name.toLowerCase() === 'authorization')) return { ...common, state: 'header' };
  const place = { upstream: config.name, caller };
  const [tokens, noted] = await Promise.all([vault.load(place), vault.noted(place)]);
  const problem = noted?.problem === undefined ? {} : { problem: noted.problem };
  if (tokens === undefined && (await vault.isUnreadable(place)))
    return { ...common, state: 'needs-sign-in', problem: UNREADABLE };
  if (tokens === undefined)
    return { ...common, state: noted === undefined ? 'not-signed-in' : 'needs-sign-in', ...problem };
  const { account, scope, expiresAt, refreshToken, flow, server } = tokens;
  const renews = refreshToken !== undefined || flow === 'client-credentials';
  const isOver = expiresAt !== undefined && expiresAt <= now() && !renews;
  return {
    ...common,
    state: isOver ? 'expired' : 'signed-in',
    renews,
    ...(account !== undefined && { account }),
    ...(scope !== undefined && { scope }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(server !== undefined && { issuer: server.issuer }),
    ...problem,
  };
}
