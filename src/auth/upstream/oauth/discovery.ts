import { GatewayError } from '../../../model/errors.ts';
import { isJsonObject } from '../../../model/json.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { Challenge } from './challenge.ts';
import type { GuardedFetch } from './guarded-fetch.ts';

/** What is needed of an authorization server, checked; endpoints are absolute addresses. */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint?: string;
  readonly deviceEndpoint?: string;
  readonly revocationEndpoint?: string;
  readonly authMethods: readonly string[];
  readonly signingAlgorithms: readonly string[];
  readonly scopes: readonly string[];
  readonly hasS256: boolean;
  readonly takesClientDocuments: boolean;
  /** RFC 9207: every answer names its issuer. */
  readonly namesIssuer: boolean;
  /** Nothing is published, and these are the places where servers of the first days have it. */
  readonly isGuess?: boolean;
}

export interface Discovered {
  readonly server: AuthorizationServer;
  /** The `resource` of RFC 8707; absent where the server publishes no metadata. */
  readonly resource?: string;
  /** What the resource says there is. */
  readonly resourceScopes?: string;
}

interface DiscoveryOptions {
  readonly url: URL;
  readonly challenge: Challenge;
  /** From the configuration: the only one that is trusted. */
  readonly issuer?: string | undefined;
  readonly fetch: GuardedFetch;
}

/** From a server's address to its authorization server: challenge, then well-known paths, then the issuer's metadata. */
export async function discover(options: DiscoveryOptions): Promise<Discovered> {
  const { url, fetch } = options;
  const metadata = await resourceMetadata(options);
  if (metadata === undefined) {
    // Servers of the first days of the protocol are their own authorization servers.
    const issuer = options.issuer ?? url.origin;
    const server =
      (await authorizationServer(issuer, fetch)) ?? withoutMetadata(issuer, options.issuer === undefined);
    if (server === undefined) throw noAuthorizationServer(issuer);
    return { server };
  }
  const resource = typeof metadata['resource'] === 'string' ? metadata['resource'] : undefined;
  if (resource === undefined || !covers(resource, url)) {
    throw failed(
      `${url.href} says that it is the resource ${JSON.stringify(metadata['resource'] ?? null)}; a token for that would not be for this server.`,
    );
  }
  const offered = texts(metadata['authorization_servers']);
  const issuer = options.issuer ?? offered[0] ?? url.origin;
  if (options.issuer !== undefined && offered.length > 0 && !offered.some((one) => sameIssuer(one, issuer)))
    throw failed(`The configured issuer ${issuer} is not among those of the server: ${offered.join(', ')}.`);
  const server = await authorizationServer(issuer, fetch);
  if (server === undefined) throw noAuthorizationServer(issuer);
  const scopes = texts(metadata['scopes_supported']);
  return { server, resource, ...(scopes.length > 0 && { resourceScopes: scopes.join(' ') }) };
}

async function resourceMetadata({
  url,
  challenge,
  fetch,
}: DiscoveryOptions): Promise<JsonObject | undefined> {
  const named = challenge.resourceMetadata;
  const path = url.pathname === '/' ? '' : url.pathname.replace(/\/$/, '');
  const wellKnown = '/.well-known/oauth-protected-resource';
  const places =
    named !== undefined && URL.canParse(named)
      ? [named]
      : [new URL(`${wellKnown}${path}${url.search}`, url).href, new URL(wellKnown, url).href];
  for (const place of new Set(places)) {
    const found = await jsonAt(new URL(place), fetch);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The metadata of an issuer from the three places where it may be; undefined where there is none. */
async function authorizationServer(
  issuer: string,
  fetch: GuardedFetch,
): Promise<AuthorizationServer | undefined> {
  if (!URL.canParse(issuer))
    throw failed(`The issuer ${JSON.stringify(issuer.slice(0, 200))} is not an address.`);
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const place of new Set(places)) {
    const found = await jsonAt(new URL(place), fetch);
    if (found !== undefined) return read(found, issuer, place);
  }
  return undefined;
}

/** 4xx and a bad gateway mean "not here"; what else is no success is trouble that may pass. */
async function jsonAt(url: URL, fetch: GuardedFetch): Promise<JsonObject | undefined> {
  const { status, text } = await fetch(url);
  if (status >= 200 && status < 300) {
    const value = parsed(text);
    if (value === undefined) throw failed(`What ${url.href} answers is not JSON.`);
    return value;
  }
  if (status < 500 || status === 502) return undefined;
  throw new GatewayError('UPSTREAM_UNAVAILABLE', `${url.href} answers with HTTP ${status}; try again later.`);
}

function read(value: JsonObject, expected: string, place: string): AuthorizationServer {
  const { issuer } = value;
  if (typeof issuer !== 'string' || !sameIssuer(issuer, expected)) {
    throw failed(`${place} speaks for the issuer ${JSON.stringify(issuer ?? null)} and not for ${expected}.`);
  }
  const endpoint = (name: string): string | undefined => {
    const text = value[name];
    if (text === undefined || text === null) return undefined;
    if (typeof text !== 'string' || !URL.canParse(text))
      throw failed(`The ${name} in ${place} is not an address.`);
    return text;
  };
  const tokenEndpoint = endpoint('token_endpoint');
  if (tokenEndpoint === undefined) throw failed(`${place} names no token_endpoint.`);
  const authorizationEndpoint = endpoint('authorization_endpoint');
  const registrationEndpoint = endpoint('registration_endpoint');
  const deviceEndpoint = endpoint('device_authorization_endpoint');
  const revocationEndpoint = endpoint('revocation_endpoint');
  return {
    issuer,
    tokenEndpoint,
    ...(authorizationEndpoint !== undefined && { authorizationEndpoint }),
    ...(registrationEndpoint !== undefined && { registrationEndpoint }),
    ...(deviceEndpoint !== undefined && { deviceEndpoint }),
    ...(revocationEndpoint !== undefined && { revocationEndpoint }),
    authMethods: texts(value['token_endpoint_auth_methods_supported']),
    signingAlgorithms: texts(value['token_endpoint_auth_signing_alg_values_supported']),
    scopes: texts(value['scopes_supported']),
    hasS256: texts(value['code_challenge_methods_supported']).includes('S256'),
    takesClientDocuments: value['client_id_metadata_document_supported'] === true,
    namesIssuer: value['authorization_response_iss_parameter_supported'] === true,
  };
}

/** The paths that the 2025-03-26 protocol fixed for servers without any metadata. */
function withoutMetadata(issuer: string, isAllowed: boolean): AuthorizationServer | undefined {
  if (!isAllowed) return undefined;
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

/** Only a final slash may differ, which some add to an issuer without a path. */
function sameIssuer(one: string, other: string): boolean {
  return one === other || `${one}/` === other || one === `${other}/`;
}

/** A resource covers a server at the same origin whose path lies below its own. */
function covers(resource: string, url: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const named = new URL(resource);
  if (named.origin !== url.origin) return false;
  const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);
  return withSlash(url.pathname).startsWith(withSlash(named.pathname));
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // The caller says so with the address.
  }
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((one): one is string => typeof one === 'string').slice(0, 1000)
    : [];
}

function noAuthorizationServer(issuer: string): GatewayError {
  return failed(`There is no authorization server metadata at ${issuer}.`);
}

function failed(message: string): GatewayError {
  return new GatewayError('SIGN_IN_FAILED', message);
}
