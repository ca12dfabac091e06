import { jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';

import type { JwtConfig } from '../../config/callers-config.ts';
import { isJsonObject } from '../../model/json.ts';
import type { Tier } from '../../model/tier.ts';
import type { Logger } from '../../observe/log.ts';
import { IssuerUnreachable } from './issuer-keys.ts';
import { refused } from './verdict.ts';
import type { Provider, Verdict } from './verdict.ts';

interface JwtDeps {
  readonly keysOf: JWTVerifyGetKey;
  readonly now: () => number;
  readonly log: Logger;
}

const SHAPE = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const MAX_NAMES = 200;
const MAX_NAME = 200;

/** `auth.jwt`: signed tokens of one issuer that are meant for us. */
export function jwt(config: JwtConfig, deps: JwtDeps): Provider {
  return (_, token) =>
    token === undefined || !SHAPE.test(token) ? undefined : verdictOn(token, config, deps);
}

async function verdictOn(token: string, config: JwtConfig, deps: JwtDeps): Promise<Verdict> {
  const { issuer, audience, algorithms, clockSkewMs } = config;
  let claims: JWTPayload;
  try {
    ({ payload: claims } = await jwtVerify(token, deps.keysOf, {
      issuer,
      audience: [...audience],
      // Never those that the token names: that is how a public key becomes a shared secret.
      algorithms: [...algorithms],
      clockTolerance: clockSkewMs / 1000,
      currentDate: new Date(deps.now()),
      requiredClaims: ['exp'],
    }));
  } catch (error) {
    if (error instanceof IssuerUnreachable) {
      deps.log.warn('Tokens cannot be checked, since the issuer does not answer.', { reason: error.message });
      return refused('Tokens cannot be checked now; try again later.', { status: 503 });
    }
    return refused(`This token is not valid: ${reasonOf(error)}.`, { error: 'invalid_token' });
  }
  return verdictOnClaims(claims, config);
}

function verdictOnClaims(claims: JWTPayload, config: JwtConfig): Verdict {
  const scopes = scopesIn(claims);
  if (config.scopes.some((scope) => !scopes.includes(scope)))
    return refused('This token lacks a scope.', {
      status: 403,
      error: 'insufficient_scope',
      scope: config.scopes.join(' '),
    });
  const { claims: names } = config;
  const id = valueAt(claims, names.id);
  const groups = namesIn(valueAt(claims, names.groups));
  const roles = namesIn(valueAt(claims, names.roles));
  const claimed = names.profile === undefined ? undefined : valueAt(claims, names.profile);
  const profile = claimed ?? config.profile;
  const tier = (names.tier === undefined ? undefined : valueAt(claims, names.tier)) ?? config.tier;
  if (typeof id !== 'string' || id === '' || id.length > MAX_NAME)
    return unusable(names.id, 'names no caller');
  if (groups === undefined) return unusable(names.groups, 'is no list of names');
  if (roles === undefined) return unusable(names.roles, 'is no list of names');
  if (profile !== undefined && typeof profile !== 'string')
    return unusable(names.profile, 'names no profile');
  if (tier !== undefined && !isTier(tier)) return unusable(names.tier, 'is no tier');
  return {
    admission: {
      caller: {
        ...{ id: `jwt:${id}`, via: 'http', profile: profile ?? 'default', groups, roles },
        ...(tier !== undefined && { tier }),
      },
      isBound: profile !== undefined,
      until: (claims.exp ?? 0) * 1000 + config.clockSkewMs,
    },
  };
}

/** What a claim was meant to limit must not be lost because it cannot be read. */
function unusable(claim: string | undefined, problem: string): Verdict {
  return refused(`The claim "${claim ?? ''}" of this token ${problem}.`, { error: 'invalid_token' });
}

/** The claim of that very name, or what the dots lead to. */
function valueAt(claims: JWTPayload, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

function namesIn(value: unknown): readonly string[] | undefined {
  if (value === undefined) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isFine = list.length <= MAX_NAMES && list.every(isName);
  return isFine ? (list as readonly string[]) : undefined; // Each was looked at.
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME;
}

/** `scope` is a text of words; some issuers have a list, or call it `scp`. */
function scopesIn(claims: JWTPayload): readonly string[] {
  const value = claims['scope'] ?? claims['scp'];
  if (typeof value === 'string') return value.split(' ');
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function isTier(value: unknown): value is Tier {
  return value === 'read' || value === 'write' || value === 'destructive';
}

/** In our words: those of a library may repeat what the token says. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const claim = error instanceof Error && 'claim' in error ? String(error.claim) : '';
  switch (code) {
    case 'ERR_JWT_EXPIRED':
      return 'it is over';
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      return `its claim "${claim}" is not what it must be`;
    case 'ERR_JOSE_ALG_NOT_ALLOWED':
      return 'its algorithm is not accepted';
    case 'ERR_JWKS_NO_MATCHING_KEY':
      return 'its issuer has no such key';
    case 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED':
      return 'its signature is wrong';
    default:
      return 'it cannot be read';
  }
}
