import { randomUUID } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

import { GatewayError } from '../../../core/errors.ts';
import type { AuthorizationServerMetadata } from './server-discovery.ts';

/** Our identity at one authorization server. The database stores it as JSON. */
export interface OAuthClient {
  readonly id: string;
  readonly secret?: string | undefined;
  /** The method that the server registered; preferred if several are possible. */
  readonly authMethod?: string | undefined;
  /** The key that signs assertions, as PEM or JWK. */
  readonly privateKey?: string | undefined;
  readonly keyId?: string | undefined;
}

/** Lifetime of a signed client assertion. */
const ASSERTION_SECONDS = 60;

/** Adds the client's credentials to the form or headers of a request, with the strongest method that both sides support. */
export async function authenticateClient(
  client: OAuthClient,
  server: Pick<AuthorizationServerMetadata, 'issuer' | 'authMethods' | 'signingAlgorithms'>,
  request: { readonly form: URLSearchParams; readonly headers: Record<string, string> },
): Promise<void> {
  const { form, headers } = request;
  switch (chooseMethod(client, server.authMethods)) {
    case 'private_key_jwt':
      form.set('client_id', client.id);
      form.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
      form.set('client_assertion', await signAssertion(client, server));
      return;
    case 'client_secret_basic': {
      const credentials = `${formEncode(client.id)}:${formEncode(client.secret ?? '')}`;
      headers['Authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`;
      return;
    }
    case 'client_secret_post':
      form.set('client_id', client.id);
      form.set('client_secret', client.secret ?? '');
      return;
    case 'none':
      form.set('client_id', client.id);
  }
}

type AuthMethod = 'private_key_jwt' | 'client_secret_basic' | 'client_secret_post' | 'none';

function chooseMethod(client: OAuthClient, supported: readonly string[]): AuthMethod {
  if (client.privateKey !== undefined) return 'private_key_jwt';
  if (client.secret === undefined || client.secret === '') return 'none';
  const { authMethod } = client;
  // An empty list means that the server publishes no methods. In this case, RFC 8414 defines `client_secret_basic` as the default.
  const isAllowed = supported.length === 0 || (authMethod !== undefined && supported.includes(authMethod));
  if (isAllowed && (authMethod === 'client_secret_basic' || authMethod === 'client_secret_post'))
    return authMethod;
  if (supported.length === 0 || supported.includes('client_secret_basic')) return 'client_secret_basic';
  if (supported.includes('client_secret_post')) return 'client_secret_post';
  return supported.includes('none') ? 'none' : 'client_secret_post';
}

/** Form-encodes one part of Basic credentials, as RFC 6749, section 2.3.1, requires. */
function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

async function signAssertion(
  client: OAuthClient,
  server: Pick<AuthorizationServerMetadata, 'issuer' | 'signingAlgorithms'>,
): Promise<string> {
  const { SignJWT } = await import('jose');
  const { key, algorithm } = await readSigningKey(client.privateKey ?? '', server.signingAlgorithms);
  return new SignJWT()
    .setProtectedHeader({ alg: algorithm, ...(client.keyId !== undefined && { kid: client.keyId }) })
    .setIssuer(client.id)
    .setSubject(client.id)
    .setAudience(server.issuer)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime(`${ASSERTION_SECONDS}s`)
    .sign(key);
}

async function readSigningKey(
  text: string,
  supported: readonly string[],
): Promise<{ readonly key: KeyObject; readonly algorithm: string }> {
  const { createPrivateKey } = await import('node:crypto');
  try {
    const isJwk = text.trimStart().startsWith('{');
    const key = isJwk
      ? createPrivateKey({ key: JSON.parse(text) as Record<string, string>, format: 'jwk' })
      : createPrivateKey(text);
    const possible = algorithmsFor(key.asymmetricKeyType, key.asymmetricKeyDetails?.namedCurve);
    const algorithm = possible.find((name) => supported.includes(name)) ?? possible[0];
    if (algorithm !== undefined) return { key, algorithm };
  } catch {
    // The error is dropped, because its message may contain parts of the key.
  }
  throw new GatewayError(
    'SIGN_IN_FAILED',
    'The private key in "auth.privateKey" cannot be used. It must be an RSA, EC or Ed25519 key, as PEM or JWK.',
  );
}

function algorithmsFor(type: string | undefined, curve: string | undefined): readonly string[] {
  if (type === 'rsa') return ['RS256', 'PS256', 'RS384', 'RS512'];
  if (type === 'ed25519') return ['EdDSA', 'Ed25519'];
  if (type !== 'ec') return [];
  const byCurve: Readonly<Record<string, string>> = {
    prime256v1: 'ES256',
    secp384r1: 'ES384',
    secp521r1: 'ES512',
  };
  const algorithm = byCurve[curve ?? ''];
  return algorithm === undefined ? [] : [algorithm];
}
