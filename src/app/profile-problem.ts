import type { GatewayConfig } from '../config/config.ts';
import { nearest } from '../lib/nearest.ts';

/** What is wrong with the profile that a client asks for; undefined when nothing is. */
export function profileProblem(
  profile: string | undefined,
  { profiles }: Pick<GatewayConfig, 'profiles'>,
): string | undefined {
  if (profile === undefined || profile === 'default' || Object.hasOwn(profiles, profile)) return undefined;
  const [near] = nearest(profile, Object.keys(profiles), 1);
  const hint = near === undefined ? 'Write it below "profiles".' : `Did you mean "${near}"?`;
  return `The configuration has no profile "${profile.slice(0, 100)}". ${hint}`;
}
