import { isIP } from 'node:net';

import { z } from 'zod';

import { duration, nonEmptyString, nonEmptyStrings, wholeNumber } from './schema-parts.ts';

/** Only asymmetric algorithms: with a symmetric one, every verifier could also issue tokens. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;

const networkHint = 'must be an address or a network such as "10.0.0.5", "10.0.0.0/8" or "fd00::/8"';
const network = nonEmptyString.refine(isNetwork, { error: networkHint });
const header = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: 'is not a valid HTTP header name' })
  .refine((name) => !/^(?:authorization|host|origin|cookie|x-forwarded-for)$/i.test(name), {
    error: 'is a header with another meaning; use a separate header for the identity',
  });
const httpsHint = 'must begin with https:// (or http:// on this machine)';
const httpsUrl = nonEmptyString.refine(isSafeUrl, { error: httpsHint });
const callerDefaults = {
  profile: nonEmptyString.optional().describe('Profile that these callers are bound to.'),
  tier: z
    .enum(['read', 'write', 'destructive'])
    .optional()
    .describe('Maximum tier of these callers: they see only tools up to this tier.'),
};

const forwarded = z
  .strictObject({
    from: z
      .array(network)
      .min(1)
      .describe('Addresses and networks of the proxy. The headers of other peers are ignored.'),
    user: header.prefault('X-Forwarded-User').describe('Header with the user name.'),
    groups: header.optional().describe("Header with the user's groups, separated by commas."),
    ...callerDefaults,
  })
  .describe('A reverse proxy in front of the gateway authenticates users and passes their identity in headers.');

const jwt = z
  .strictObject({
    issuer: httpsUrl.describe('URL of the authorization server, exactly as in the `iss` claim of its tokens.'),
    audience: z
      .union([nonEmptyString, nonEmptyStrings.min(1)], { error: 'must be a string or a list of strings' })
      .transform((value) => (typeof value === 'string' ? [value] : value))
      .describe('Accepted values of the `aud` claim.'),
    jwksUrl: httpsUrl.optional().describe("URL of the issuer's keys. Default: the URL in its metadata."),
    algorithms: z
      .array(z.enum(ALGORITHMS))
      .min(1)
      .prefault(['RS256', 'PS256', 'ES256', 'EdDSA'])
      .describe('Accepted signature algorithms.'),
    clockSkew: duration(0)
      .prefault('30s')
      .describe("Maximum difference between the issuer's clock and this machine's."),
    scopes: nonEmptyStrings.prefault([]).describe('Scopes. A token must have all of them.'),
    claims: z
      .strictObject({
        id: nonEmptyString.prefault('sub').describe('JWT claim that holds the id of the caller.'),
        groups: nonEmptyString.prefault('groups').describe("JWT claim that holds the caller's groups."),
        roles: nonEmptyString
          .prefault('roles')
          .describe("JWT claim that holds the caller's roles, such as `realm_access.roles`."),
        profile: nonEmptyString
          .optional()
          .describe('JWT claim that holds the profile that the caller is bound to.'),
        tier: nonEmptyString.optional().describe("JWT claim that holds the caller's maximum tier."),
      })
      .prefault({})
      .describe('Names of the claims; a dot separates the steps into nested objects.'),
    ...callerDefaults,
  })
  .describe('Callers send tokens (JWT) of an authorization server.');

const authorizationServer = z
  .strictObject({
    accessTokenLife: duration(1000).prefault('1h').describe('Lifetime of an access token.'),
    refreshTokenLife: duration(1000)
      .prefault('336h')
      .describe('After this time without a request from the client, a person must approve the client again.'),
    registration: z.boolean().prefault(true).describe('Whether clients may register themselves.'),
    maxClients: wholeNumber(1, 100_000)
      .prefault(500)
      .describe(
        'Maximum number of clients that registered themselves. Beyond it, unapproved clients are removed first, then those with the oldest approval.',
      ),
    metadataDocuments: z
      .boolean()
      .prefault(true)
      .describe('Whether a client id may be the URL of a client id metadata document.'),
    allowPrivate: z
      .boolean()
      .prefault(false)
      .describe('Whether the URL of a metadata document may lead to a private address.'),
  })
  .describe(
    'The built-in authorization server, for clients that require OAuth. People sign in with a key, even if `keys` is `false`.',
  );

/** `http.publicUrl`: an origin, because the gateway defines the paths. */
export const publicUrlSchema = httpsUrl
  .refine((value) => new URL(value).pathname === '/' && new URL(value).search === '', {
    error: 'must have no path',
  })
  .transform((value) => new URL(value).origin)
  .meta({ title: 'origin' });

/** `auth`: how callers over HTTP authenticate. */
export const callersSchema = z
  .strictObject({
    keys: z
      .boolean()
      .prefault(false)
      .describe('Whether keys of `trunkline keys add` are accepted as `Authorization: Bearer …`.'),
    forwarded: forwarded.optional(),
    jwt: jwt.optional(),
    authorizationServer: authorizationServer.optional(),
  })
  .refine(({ keys, ...others }) => keys || Object.values(others).some((other) => other !== undefined), {
    error: 'enables no authentication method, so every caller would be rejected; set "keys": true',
  })
  .optional()
  .describe(
    'How callers over HTTP authenticate; the methods are tried in this order. Without `auth`, callers on this machine need no authentication, and all other callers are rejected.',
  );

function isNetwork(value: string): boolean {
  const [address = '', prefix, ...more] = value.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

function isSafeUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, hash } = new URL(value);
  if (username !== '' || hash !== '') return false;
  return (
    protocol === 'https:' ||
    (protocol === 'http:' && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname))
  );
}
