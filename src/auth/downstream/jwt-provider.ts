import { jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';

import type { JwtConfig } from '../../config/callers-config.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Tier } from '../../core/tier.ts';
import type { Logger } from '../../observability/log.ts';
import { rejectAuth } from './auth-result.ts';
import type { AuthProvider, AuthResult } from './auth-result.ts';
import { IssuerUnreachableError } from './issuer-keys.ts';

interface JwtProviderDeps {
  readonly keysOf: JWTVerifyGetKey;
  readonly now: () => number;
  readonly log: Logger;
}

const JWT_SHAPE = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
/** Maximum number of groups or roles in a token. */
const MAX_NAMES = 200;
/** Maximum length of a name in characters. */
const MAX_NAME = 200;

/** Creates the provider for `auth.jwt`, which accepts tokens that one issuer signed for our audience. Ignores tokens of another form. */
export function createJwtProvider(config: JwtConfig, deps: JwtProviderDeps): AuthProvider {
  return (_request, token) =>
    token === undefined || !JWT_SHAPE.test(token) ? undefined : verifyToken(token, config, deps);
}

async function verifyToken(token: string, config: JwtConfig, deps: JwtProviderDeps): Promise<AuthResult> {
  const { issuer, audience, algorithms, clockSkewMs } = config;
  let claims: JWTPayload;
  try {
    ({ payload: claims } = await jwtVerify(token, deps.keysOf, {
      issuer,
      audience: [...audience],
      // The configuration names the algorithms. If the token chose one, an attacker could use a public key as a shared secret.
      algorithms: [...algorithms],
      clockTolerance: clockSkewMs / 1000,
      currentDate: new Date(deps.now()),
      requiredClaims: ['exp'],
    }));
  } catch (error) {
    if (error instanceof IssuerUnreachableError) {
      deps.log.warn('Tokens cannot be verified, because the issuer does not respond.', {
        reason: error.message,
      });
      return rejectAuth('Tokens cannot be verified now; try again later.', { status: 503 });
    }
    return rejectAuth(`This token is not valid: ${describeProblem(error)}.`, { error: 'invalid_token' });
  }
  return authenticateClaims(claims, config);
}

function authenticateClaims(claims: JWTPayload, config: JwtConfig): AuthResult {
  const scopes = readScopes(claims);
  if (config.scopes.some((scope) => !scopes.includes(scope)))
    return rejectAuth('This token lacks a required scope.', {
      status: 403,
      error: 'insufficient_scope',
      scope: config.scopes.join(' '),
    });
  const { claims: names } = config;
  const id = readClaim(claims, names.id);
  const groups = readNames(readClaim(claims, names.groups));
  const roles = readNames(readClaim(claims, names.roles));
  const claimedProfile = names.profile === undefined ? undefined : readClaim(claims, names.profile);
  const profile = claimedProfile ?? config.profile;
  const tier = (names.tier === undefined ? undefined : readClaim(claims, names.tier)) ?? config.tier;
  if (typeof id !== 'string' || id === '' || id.length > MAX_NAME)
    return rejectClaim(names.id, 'does not name a caller');
  if (groups === undefined) return rejectClaim(names.groups, 'is not a list of names');
  if (roles === undefined) return rejectClaim(names.roles, 'is not a list of names');
  if (profile !== undefined && typeof profile !== 'string')
    return rejectClaim(names.profile, 'does not name a profile');
  if (tier !== undefined && !isTier(tier)) return rejectClaim(names.tier, 'is not a tier');
  return {
    authenticated: {
      caller: {
        id: `jwt:${id}`,
        via: 'http',
        profile: profile ?? 'default',
        groups,
        roles,
        tier,
      },
      isBound: profile !== undefined,
      expiresAt: (claims.exp ?? 0) * 1000 + config.clockSkewMs,
    },
  };
}

/** Rejects the token because of an invalid claim. Ignoring the claim would be unsafe, because it may limit the caller. */
function rejectClaim(claim: string | undefined, problem: string): AuthResult {
  return rejectAuth(`The claim "${claim ?? ''}" of this token ${problem}.`, { error: 'invalid_token' });
}

/** Reads the claim with exactly this name, or else follows the dots in the name. */
function readClaim(claims: JWTPayload, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/** Returns the names in a claim. Returns an empty list if the claim is absent, and undefined if it contains other values. */
function readNames(value: unknown): readonly string[] | undefined {
  if (value === undefined) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.length <= MAX_NAMES && list.every(isName) ? list : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME;
}

/** Reads the scopes from `scope`, which is a list separated by spaces. Some issuers send an array, or use the name `scp`. */
function readScopes(claims: JWTPayload): readonly string[] {
  const value = claims['scope'] ?? claims['scp'];
  if (typeof value === 'string') return value.split(' ');
  return Array.isArray(value) ? value.filter((scope) => typeof scope === 'string') : [];
}

function isTier(value: unknown): value is Tier {
  return value === 'read' || value === 'write' || value === 'destructive';
}

/** Describes the problem in our own words, because the message of a library may repeat parts of the token. */
function describeProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const claim = error instanceof Error && 'claim' in error ? String(error.claim) : '';
  switch (code) {
    case 'ERR_JWT_EXPIRED':
      return 'it has expired';
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      return `its claim "${claim}" does not have the required value`;
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
