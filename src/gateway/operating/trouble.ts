import type { ErrorCode } from '../../model/errors.ts';
import type { UpstreamStatus } from './status.ts';

/** What a client is told; the message of the problem is for the operator. */
const SAID: Partial<Readonly<Record<ErrorCode, string>>> = {
  UPSTREAM_NEEDS_AUTH: 'is not signed in',
  SECRET_MISSING: 'lacks a secret that its configuration names',
  UPSTREAM_REFUSED: 'cannot be started or does not accept us',
  CONFIG_INVALID: 'is configured wrongly',
};

/** Why a server cannot be used, or not be searched, at the moment: the end of a sentence that begins with its name. */
export function troubleOf({ state, problem, listedAt }: UpstreamStatus): string | undefined {
  if (problem !== undefined) {
    const tools = listedAt === undefined ? 'its tools are not known' : 'its tools are those it last had';
    return `${SAID[problem.code] ?? 'is down'}; ${tools}`;
  }
  if (listedAt !== undefined) return undefined;
  return `${state === 'connecting' ? 'is still starting' : 'has not been listed yet'}; its tools are not known`;
}
