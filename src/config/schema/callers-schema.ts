import { isIP } from 'node:net';

import { z } from 'zod';

import { duration, text, texts, whole } from './schema-parts.ts';

/** Only such as need a public key: with others, whoever can check a token could make one. */
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
const network = text.refine(isNetwork, { error: networkHint });
const header = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: 'is not a name that an HTTP header can have' })
  .refine((name) => !/^(?:authorization|host|origin|cookie|x-forwarded-for)$/i.test(name), {
    error: 'is a header that says something else',
  });
const httpsHint = 'must begin with https:// (or http:// on this machine)';
const httpsUrl = text.refine(isSafeUrl, { error: httpsHint });
const defaults = {
  profile: text.optional().describe('Profile that these callers are bound to.'),
  tier: z
    .enum(['read', 'write', 'destructive'])
    .optional()
    .describe('The most that a tool may do for these callers to see it.'),
};

const forwarded = z
  .strictObject({
    from: z
      .array(network)
      .min(1)
      .describe('Addresses and networks of the proxy. The headers of everybody else are not believed.'),
    user: header.prefault('X-Forwarded-User').describe('Header with the name of the user.'),
    groups: header.optional().describe('Header with their groups, between commas.'),
    ...defaults,
  })
  .describe('A proxy in front of the gateway signs people in and says in headers who they are.');

const jwt = z
  .strictObject({
    issuer: httpsUrl.describe('Address of the authorization server, exactly as its tokens say it.'),
    audience: z
      .union([text, texts.min(1)], { error: 'must be a text or a list of texts' })
      .transform((value) => (typeof value === 'string' ? [value] : value))
      .describe('What `aud` of a token must say for it to be meant for us.'),
    jwksUrl: httpsUrl.optional().describe('Where its keys are. Without it, its metadata says so.'),
    algorithms: z
      .array(z.enum(ALGORITHMS))
      .min(1)
      .prefault(['RS256', 'PS256', 'ES256', 'EdDSA'])
      .describe('Signatures that are accepted.'),
    clockSkew: duration(0).prefault('30s').describe('How far its clock may be from ours.'),
    scopes: texts.prefault([]).describe('Scopes that a token must have, all of them.'),
    claims: z
      .strictObject({
        id: text.prefault('sub').describe('Claim with the name of the caller.'),
        groups: text.prefault('groups').describe('Claim with their groups.'),
        roles: text.prefault('roles').describe('Claim with their roles, such as `realm_access.roles`.'),
        profile: text.optional().describe('Claim with the profile that they are bound to.'),
        tier: text.optional().describe('Claim with the most that a tool may do for them to see it.'),
      })
      .prefault({})
      .describe('Which claims say what; dots lead into objects.'),
    ...defaults,
  })
  .describe('Callers bring tokens (JWT) of an authorization server.');

const authorizationServer = z
  .strictObject({
    accessTokenLife: duration(1000).prefault('1h').describe('How long an access token lasts.'),
    refreshTokenLife: duration(1000)
      .prefault('336h')
      .describe('How long a client may stay away before a person has to agree again.'),
    registration: z.boolean().prefault(true).describe('Whether clients may register themselves.'),
    maxClients: whole(1, 100_000)
      .prefault(500)
      .describe('Clients that registered themselves; the one that nobody agreed to for longest makes room.'),
    metadataDocuments: z
      .boolean()
      .prefault(true)
      .describe('Whether the id of a client may be the address of a document about it.'),
    allowPrivate: z.boolean().prefault(false).describe('Whether such a document may have a private address.'),
  })
  .describe(
    'An authorization server of our own, for clients that insist on OAuth. People prove who they are with a key; it works without `keys`, too.',
  );

/** `http.publicUrl`: an origin, since paths are ours. */
export const publicUrl = httpsUrl
  .refine((value) => new URL(value).pathname === '/' && new URL(value).search === '', {
    error: 'must have no path',
  })
  .transform((value) => new URL(value).origin)
  .meta({ title: 'origin' });

/** `auth`: how callers over HTTP prove who they are. */
export const callersSchema = z
  .strictObject({
    keys: z
      .boolean()
      .prefault(false)
      .describe('Whether keys that `trunkline keys add` made are accepted as `Authorization: Bearer …`.'),
    forwarded: forwarded.optional(),
    jwt: jwt.optional(),
    authorizationServer: authorizationServer.optional(),
  })
  .refine(({ keys, ...others }) => keys || Object.values(others).some((other) => other !== undefined), {
    error: 'names no way to prove who one is, so that nobody could come in; set "keys": true',
  })
  .optional()
  .describe(
    'How callers over HTTP prove who they are, tried in this order. Without it everybody on this machine is served, and nobody else.',
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
