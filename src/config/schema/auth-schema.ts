import { z } from 'zod';

import { text, texts } from './schema-parts.ts';

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

/** How we sign in to one server over HTTP; without it everything is found out from the server. */
export const authSchema = z
  .strictObject({
    flow: z
      .enum(['browser', 'device', 'client-credentials'])
      .prefault('browser')
      .describe(
        'How tokens are had: `browser` asks a person in a browser on this machine, `device` in a browser elsewhere, `client-credentials` asks nobody and needs `clientId` with `clientSecret` or `privateKey`.',
      ),
    per: z
      .enum(['server', 'caller'])
      .prefault('server')
      .describe(
        '`server`: one sign-in for everybody. `caller`: each caller has an own, used for their calls only.',
      ),
    clientId: text.optional().describe('Id of an application that was registered by hand.'),
    clientSecret: text.optional().describe('Its secret, best as a reference.'),
    privateKey: text
      .optional()
      .describe('Its private key as PEM or JWK, best as `${file:path}`; used instead of a secret.'),
    keyId: text.optional().describe('Id of the private key, where the authorization server wants one.'),
    clientMetadataUrl: text
      .optional()
      .describe('Address of a client id metadata document, for authorization servers that take those.'),
    issuer: text.optional().describe('The only authorization server to use, where the server names several.'),
    scopes: texts
      .prefault([])
      .describe('Scopes to ask for. Without any: those that the server asks for, or says that there are.'),
    callbackPort: callbackPort
      .prefault('7340-7359')
      .describe(
        'Where the browser comes back to: a port, a range of which the first free one is taken, or `any`. The port that was used before is tried first.',
      ),
    allowPrivate: z
      .boolean()
      .prefault(false)
      .describe('Whether a public server may name an authorization server with a private address.'),
  })
  .describe('How to sign in to a server over HTTP that asks for it.');

export type AuthEntry = z.output<typeof authSchema>;
