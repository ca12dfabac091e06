import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { Challenge } from './challenge.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import { sanitizeText } from '../../../core/lib/sanitize-text.ts';

/** The validated metadata of an authorization server (RFC 8414); endpoints are absolute addresses. */
export interface AuthorizationServerMetadata {
  readonly issuer: string;
  readonly authorizationEndpoint?: string | undefined;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint?: string | undefined;
  readonly deviceEndpoint?: string | undefined;
  readonly revocationEndpoint?: string | undefined;
  readonly authMethods: readonly string[];
  readonly signingAlgorithms: readonly string[];
  readonly scopes: readonly string[];
  readonly hasS256: boolean;
  readonly takesClientDocuments: boolean;
  /** Whether every authorization response names its issuer (RFC 9207). */
  readonly namesIssuer: boolean;
  /** Whether the server publishes no metadata, so that the endpoints are the default paths of protocol version 2025-03-26. */
  readonly isGuess?: boolean;
}

export interface DiscoveryResult {
  readonly server: AuthorizationServerMetadata;
  /** The `resource` of RFC 8707; absent where the upstream publishes no metadata. */
  readonly resource?: string | undefined;
  /** The scopes that the upstream advertises. */
  readonly resourceScopes?: string | undefined;
}

interface DiscoveryOptions {
  readonly url: URL;
  readonly challenge: Challenge;
  /** The issuer in the configuration; if set, no other one is trusted. */
  readonly issuer?: string | undefined;
  readonly fetch: GuardedFetch;
}

/**
 * Finds the authorization server of an upstream: first its protected resource metadata (RFC 9728), at the address in the
 * challenge or at the well-known paths, then the metadata of the issuer (RFC 8414 or OpenID Connect).
 */
export async function discoverAuthorizationServer(options: DiscoveryOptions): Promise<DiscoveryResult> {
  const { url, fetch } = options;
  const metadata = await fetchResourceMetadata(options);
  if (metadata === undefined) {
    // In protocol version 2025-03-26, a server is its own authorization server.
    const issuer = options.issuer ?? url.origin;
    const published = await fetchServerMetadata(issuer, fetch);
    if (published !== undefined) return { server: published };
    if (options.issuer !== undefined) throw noServerMetadata(issuer);
    return { server: defaultServerMetadata(issuer) };
  }
  const resource = typeof metadata['resource'] === 'string' ? metadata['resource'] : undefined;
  if (resource === undefined || !coversUrl(resource, url)) {
    throw signInFailed(
      `${url.href} declares the resource ${quoteValue(metadata['resource'])}. A token for that resource would not be valid for this server.`,
    );
  }
  const offered = readStrings(metadata['authorization_servers']);
  const issuer = options.issuer ?? offered[0] ?? url.origin;
  if (
    options.issuer !== undefined &&
    offered.length > 0 &&
    !offered.some((other) => isSameIssuer(other, issuer))
  )
    throw signInFailed(
      `The server does not offer the configured issuer ${issuer}; it offers ${sanitizeText(offered.join(', '))}. Correct "auth.issuer" in its entry.`,
    );
  const server = await fetchServerMetadata(issuer, fetch);
  if (server === undefined) throw noServerMetadata(issuer);
  const scopes = readStrings(metadata['scopes_supported']);
  return { server, resource, resourceScopes: scopes.length > 0 ? scopes.join(' ') : undefined };
}

async function fetchResourceMetadata({
  url,
  challenge,
  fetch,
}: DiscoveryOptions): Promise<JsonObject | undefined> {
  const named = challenge.resourceMetadata;
  const path = url.pathname === '/' ? '' : url.pathname.replace(/\/$/, '');
  const wellKnown = '/.well-known/oauth-protected-resource';
  const addresses =
    named !== undefined && URL.canParse(named)
      ? [named]
      : [new URL(`${wellKnown}${path}${url.search}`, url).href, new URL(wellKnown, url).href];
  for (const address of new Set(addresses)) {
    const metadata = await fetchObject(new URL(address), fetch);
    if (metadata !== undefined) return metadata;
  }
  return undefined;
}

/** Fetches the metadata of an issuer from the three possible addresses. Returns undefined if none of them has metadata. */
async function fetchServerMetadata(
  issuer: string,
  fetch: GuardedFetch,
): Promise<AuthorizationServerMetadata | undefined> {
  if (!URL.canParse(issuer)) throw signInFailed(`The issuer ${quoteValue(issuer)} is not an address.`);
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const addresses = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const address of new Set(addresses)) {
    const metadata = await fetchObject(new URL(address), fetch);
    if (metadata !== undefined) return parseServerMetadata(metadata, issuer, address);
  }
  return undefined;
}

/** Fetches a JSON object. Returns undefined for 4xx and 502, which mean "not at this address". Throws for other 5xx, which may be temporary. */
async function fetchObject(url: URL, fetch: GuardedFetch): Promise<JsonObject | undefined> {
  const { status, text } = await fetch(url);
  if (status >= 200 && status < 300) {
    const value = parseObject(text);
    if (value === undefined) throw signInFailed(`The response of ${url.href} is not a JSON object.`);
    return value;
  }
  if (status < 500 || status === 502) return undefined;
  throw new GatewayError(
    'UPSTREAM_UNAVAILABLE',
    `${url.href} responds with HTTP ${status}; try again later.`,
  );
}

function parseServerMetadata(
  metadata: JsonObject,
  expectedIssuer: string,
  address: string,
): AuthorizationServerMetadata {
  const { issuer } = metadata;
  if (typeof issuer !== 'string' || !isSameIssuer(issuer, expectedIssuer)) {
    throw signInFailed(
      `The metadata at ${address} is for the issuer ${quoteValue(issuer)} and not for ${expectedIssuer}.`,
    );
  }
  const readEndpoint = (name: string): string | undefined => {
    const endpoint = metadata[name];
    if (endpoint === undefined || endpoint === null) return undefined;
    if (typeof endpoint !== 'string' || !URL.canParse(endpoint))
      throw signInFailed(`The ${name} in ${address} is not an address.`);
    return endpoint;
  };
  const tokenEndpoint = readEndpoint('token_endpoint');
  if (tokenEndpoint === undefined) throw signInFailed(`The metadata at ${address} has no token_endpoint.`);
  return {
    issuer,
    tokenEndpoint,
    authorizationEndpoint: readEndpoint('authorization_endpoint'),
    registrationEndpoint: readEndpoint('registration_endpoint'),
    deviceEndpoint: readEndpoint('device_authorization_endpoint'),
    revocationEndpoint: readEndpoint('revocation_endpoint'),
    authMethods: readStrings(metadata['token_endpoint_auth_methods_supported']),
    signingAlgorithms: readStrings(metadata['token_endpoint_auth_signing_alg_values_supported']),
    scopes: readStrings(metadata['scopes_supported']),
    hasS256: readStrings(metadata['code_challenge_methods_supported']).includes('S256'),
    takesClientDocuments: metadata['client_id_metadata_document_supported'] === true,
    namesIssuer: metadata['authorization_response_iss_parameter_supported'] === true,
  };
}

/** Returns metadata with the default paths that protocol version 2025-03-26 defines for servers without metadata. */
function defaultServerMetadata(issuer: string): AuthorizationServerMetadata {
  return {
    issuer,
    authorizationEndpoint: `${issuer}/authorize`,
    tokenEndpoint: `${issuer}/token`,
    registrationEndpoint: `${issuer}/register`,
    authMethods: [],
    signingAlgorithms: [],
    scopes: [],
    hasS256: true,
    takesClientDocuments: false,
    namesIssuer: false,
    isGuess: true,
  };
}

/** Compares issuers and ignores a trailing slash, which some servers add to an issuer without a path. */
function isSameIssuer(one: string, other: string): boolean {
  return one === other || `${one}/` === other || one === `${other}/`;
}

/** Whether the URL has the origin of the resource, and a path at or below that of the resource. */
function coversUrl(resource: string, url: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const resourceUrl = new URL(resource);
  if (resourceUrl.origin !== url.origin) return false;
  const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);
  return withSlash(url.pathname).startsWith(withSlash(resourceUrl.pathname));
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // The caller reports the problem with the address.
  }
}

function readStrings(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((item): item is string => typeof item === 'string').slice(0, 1000)
    : [];
}

/** Formats a value from another server for a message. Quotes only strings, because serializing a deeply nested value fails. */
function quoteValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(sanitizeText(value));
  return value === undefined || value === null ? 'null' : `of type ${typeof value}`;
}

function noServerMetadata(issuer: string): GatewayError {
  return signInFailed(`There is no authorization server metadata at ${sanitizeText(issuer)}.`);
}

function signInFailed(message: string): GatewayError {
  return new GatewayError('SIGN_IN_FAILED', message);
}
