import { randomUUID } from 'node:crypto';

import { GatewayError } from '../../../model/errors.ts';
import type { AuthorizationServer } from './discovery.ts';

/** Us at one authorization server. */
export interface OAuthClient {
  readonly id: string;
  readonly secret?: string;
  /** As the server registered it; decides where several would do. */
  readonly authMethod?: string;
  /** PEM or JWK of the key that signs assertions. */
  readonly privateKey?: string;
  readonly keyId?: string;
}

const ASSERTION_SECONDS = 60;

/** Adds what proves that we are the client, by the strongest way that both sides know. */
export async function authenticate(
  client: OAuthClient,
  server: Pick<AuthorizationServer, 'issuer' | 'authMethods' | 'signingAlgorithms'>,
  into: { readonly form: URLSearchParams; readonly headers: Record<string, string> },
): Promise<void> {
  const { form, headers } = into;
  switch (methodFor(client, server.authMethods)) {
    case 'private_key_jwt':
      form.set('client_id', client.id);
      form.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
      form.set('client_assertion', await assertion(client, server));
      return;
    case 'client_secret_basic': {
      const both = `${formEncoded(client.id)}:${formEncoded(client.secret ?? '')}`;
      headers['Authorization'] = `Basic ${Buffer.from(both).toString('base64')}`;
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

type Method = 'private_key_jwt' | 'client_secret_basic' | 'client_secret_post' | 'none';

function methodFor(client: OAuthClient, supported: readonly string[]): Method {
  if (client.privateKey !== undefined) return 'private_key_jwt';
  if (client.secret === undefined || client.secret === '') return 'none';
  const { authMethod } = client;
  const isFine = supported.length === 0 || (authMethod !== undefined && supported.includes(authMethod));
  if (isFine && (authMethod === 'client_secret_basic' || authMethod === 'client_secret_post'))
    return authMethod;
  if (supported.length === 0 || supported.includes('client_secret_basic')) return 'client_secret_basic';
  if (supported.includes('client_secret_post')) return 'client_secret_post';
  return supported.includes('none') ? 'none' : 'client_secret_post';
}

/** RFC 6749 wants both parts of Basic encoded as in a form. */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

async function assertion(
  client: OAuthClient,
  server: Pick<AuthorizationServer, 'issuer' | 'signingAlgorithms'>,
): Promise<string> {
  const { SignJWT } = await import('jose');
  const { key, algorithm } = await signingKey(client.privateKey ?? '', server.signingAlgorithms);
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

async function signingKey(text: string, supported: readonly string[]) {
  const { createPrivateKey } = await import('node:crypto');
  try {
    const isJwk = text.trimStart().startsWith('{');
    const key = isJwk
      ? createPrivateKey({ key: JSON.parse(text) as Record<string, string>, format: 'jwk' })
      : createPrivateKey(text);
    const fitting = algorithmsOf(key.asymmetricKeyType, key.asymmetricKeyDetails?.namedCurve);
    const algorithm = fitting.find((one) => supported.includes(one)) ?? fitting[0];
    if (algorithm !== undefined) return { key, algorithm };
  } catch {
    // What is wrong with a key must not show the key.
  }
  throw new GatewayError(
    'SIGN_IN_FAILED',
    'The private key in "auth.privateKey" cannot be used: it must be an RSA, EC or Ed25519 key, as PEM or JWK.',
  );
}

function algorithmsOf(type: string | undefined, curve: string | undefined): readonly string[] {
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
