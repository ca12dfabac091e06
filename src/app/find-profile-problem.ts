import type { GatewayConfig } from '../config/config.ts';
import { findSimilar } from '../core/lib/find-similar.ts';

/** Returns the reason why the configuration cannot serve this profile, or undefined if it can. */
export function findProfileProblem(
  profile: string | undefined,
  { profiles }: Pick<GatewayConfig, 'profiles'>,
): string | undefined {
  if (profile === undefined || profile === 'default' || Object.hasOwn(profiles, profile)) return undefined;
  const [near] = findSimilar(profile, Object.keys(profiles), 1);
  const hint = near === undefined ? 'Add it under "profiles".' : `Did you mean "${near}"?`;
  return `The configuration has no profile "${profile.slice(0, 100)}". ${hint}`;
}
