import { z } from 'zod';

import { nonEmptyString, nonEmptyStrings } from './schema-parts.ts';

const portHint = 'must be a port such as 7340, a range such as "7340-7359", or "any"';

const callbackPort = z
  .union([z.int().min(1).max(65_535), z.string().regex(/^(?:any|\d{1,5}-\d{1,5})$/, { error: portHint })], {
    error: portHint,
  })
  .transform((value, context) => {
    if (value === 'any') return { first: 0, last: 0 };
    if (typeof value === 'number') return { first: value, last: value };
    const [first = 0, last = 0] = value.split('-').map(Number);
    if (first > 0 && first <= last && last < 2 ** 16) return { first, last };
    context.issues.push({ code: 'custom', input: value, message: portHint });
    return z.NEVER;
  })
  .meta({ title: 'port, range of ports or "any"' });

/** `auth` of a server: how the gateway signs in to it over HTTP. Without it, everything is discovered from the server. */
export const serverAuthSchema = z
  .strictObject({
    flow: z
      .enum(['browser', 'device', 'client-credentials'])
      .prefault('browser')
      .describe(
        'How the gateway gets tokens: `browser` opens a browser on this machine, `device` shows a code for a browser on any machine, `client-credentials` works without a person and needs `clientId` with `clientSecret` or `privateKey`.',
      ),
    per: z
      .enum(['server', 'caller'])
      .prefault('server')
      .describe(
        '`server`: all callers share one sign-in. `caller`: each caller signs in and uses only their own tokens.',
      ),
    clientId: nonEmptyString.optional().describe('Client id of an application that you registered yourself.'),
    clientSecret: nonEmptyString
      .optional()
      .describe('Secret of that application, preferably as a reference.'),
    privateKey: nonEmptyString
      .optional()
      .describe(
        'Private key of that application as PEM or JWK, preferably as `${file:path}`; replaces the secret.',
      ),
    keyId: nonEmptyString
      .optional()
      .describe('Id of the private key, if the authorization server requires one.'),
    clientMetadataUrl: nonEmptyString
      .optional()
      .describe('URL of a client id metadata document, for authorization servers that support them.'),
    issuer: nonEmptyString
      .optional()
      .describe('The authorization server to use if the server names several.'),
    scopes: nonEmptyStrings
      .prefault([])
      .describe(
        'Scopes to request. If empty, those that the server asks for, or else all that it advertises.',
      ),
    callbackPort: callbackPort
      .prefault('7340-7359')
      .describe(
        'Local port that the browser returns to: a port, a range of which the first free port is used, or `any`. The port of the last sign-in is tried first.',
      ),
    allowPrivate: z
      .boolean()
      .prefault(false)
      .describe('Whether a public server may name an authorization server with a private address.'),
  })
  .describe('How to sign in to a server over HTTP that requires it.');

export type ServerAuthEntry = z.output<typeof serverAuthSchema>;
