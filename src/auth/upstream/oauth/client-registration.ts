import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { OAuthClient } from './client-authentication.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import { errorFromResponse } from './oauth-error.ts';
import type { AuthorizationServerMetadata } from './server-discovery.ts';

interface ClientOptions {
  readonly upstream: string;
  readonly server: AuthorizationServerMetadata;
  /** The client in the configuration. */
  readonly configured: OAuthClient | undefined;
  readonly clientMetadataUrl: string | undefined;
  /** The client of an earlier registration with the same issuer and redirect address. */
  readonly registered: OAuthClient | undefined;
  readonly redirectUri: string;
  readonly grantTypes: readonly string[];
  readonly scope: string | undefined;
  readonly fetch: GuardedFetch;
}

/** Returns our client at an authorization server: configured, described by a document, registered before, or registered now. */
export async function resolveClient(
  options: ClientOptions,
): Promise<{ readonly client: OAuthClient; readonly isNew: boolean }> {
  const { configured, clientMetadataUrl, registered, server } = options;
  if (configured !== undefined) return { client: configured, isNew: false };
  if (clientMetadataUrl !== undefined && server.takesClientDocuments)
    return { client: { id: clientMetadataUrl, authMethod: 'none' }, isNew: false };
  if (registered !== undefined) return { client: registered, isNew: false };
  if (server.registrationEndpoint !== undefined) return { client: await register(options), isNew: true };
  throw clientIdRequired(options);
}

async function register(options: ClientOptions): Promise<OAuthClient> {
  const { server, redirectUri, fetch } = options;
  // A public program cannot keep a secret, so it asks for one only if the server requires it.
  const authMethod =
    ['none', 'client_secret_post', 'client_secret_basic'].find((method) =>
      server.authMethods.includes(method),
    ) ?? 'none';
  const metadata = {
    client_name: 'Trunkline',
    application_type: 'native',
    redirect_uris: [redirectUri],
    grant_types: options.grantTypes,
    response_types: ['code'],
    token_endpoint_auth_method: authMethod,
    scope: options.scope,
  };
  const response = await fetch(new URL(server.registrationEndpoint ?? ''), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(metadata),
  });
  if (response.status < 200 || response.status >= 300) {
    const problem = `The authorization server ${server.issuer} did not register Trunkline`;
    const { message } = errorFromResponse(problem, response);
    if (server.isGuess === true && response.status < 500) throw nothingPublished(options);
    if (response.status >= 500)
      throw new GatewayError('UPSTREAM_UNAVAILABLE', `${message}. Try again later.`);
    throw clientIdRequired(options, message);
  }
  const {
    client_id: id,
    client_secret: secret,
    token_endpoint_auth_method: registeredMethod,
  } = parseObject(response.text);
  if (typeof id !== 'string' || id === '')
    throw clientIdRequired(
      options,
      `The authorization server ${server.issuer} registered Trunkline without a client_id`,
    );
  return {
    id,
    secret: typeof secret === 'string' && secret !== '' ? secret : undefined,
    authMethod: typeof registeredMethod === 'string' ? registeredMethod : authMethod,
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {}; // The caller reports the missing client_id.
  }
}

function nothingPublished({ upstream, server }: ClientOptions): GatewayError {
  return new GatewayError(
    'SIGN_IN_FAILED',
    `Server "${upstream}" does not say where to sign in, and ${server.issuer} has no sign-in at the default paths. If the server accepts ` +
      'an API key, put it into the entry: "headers": { "Authorization": "Bearer ${env:…}" }.',
    { details: { upstream } },
  );
}

function clientIdRequired({ upstream, server, redirectUri }: ClientOptions, reason?: string): GatewayError {
  const why = reason ?? `The authorization server ${server.issuer} does not register clients`;
  return new GatewayError(
    'SIGN_IN_FAILED',
    `${why}. Register an application there by hand, with the redirect address ${redirectUri}, and put its client id into the ` +
      `configuration: "mcpServers": { ${JSON.stringify(upstream)}: { "auth": { "clientId": "…" } } }.`,
    { details: { upstream, issuer: server.issuer } },
  );
}
