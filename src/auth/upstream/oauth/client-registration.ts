import { GatewayError } from '../../../model/errors.ts';
import { isJsonObject } from '../../../model/json.ts';
import type { OAuthClient } from './client-authentication.ts';
import type { AuthorizationServer } from './discovery.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import { errorFromAnswer } from './oauth-error.ts';

export interface RegistrationOptions {
  readonly upstream: string;
  readonly server: AuthorizationServer;
  /** From the configuration. */
  readonly configured?: OAuthClient | undefined;
  readonly clientMetadataUrl?: string | undefined;
  /** Of an earlier registration with this very issuer and redirect address. */
  readonly known?: OAuthClient | undefined;
  readonly redirectUri: string;
  readonly grantTypes: readonly string[];
  readonly scope?: string | undefined;
  readonly fetch: GuardedFetch;
}

/** Who we are at this authorization server: configured, by our document, registered before, or registered now. */
export async function clientFor(
  options: RegistrationOptions,
): Promise<{ readonly client: OAuthClient; readonly isNew: boolean }> {
  const { configured, clientMetadataUrl, known, server } = options;
  if (configured !== undefined) return { client: configured, isNew: false };
  if (clientMetadataUrl !== undefined && server.takesClientDocuments)
    return { client: { id: clientMetadataUrl, authMethod: 'none' }, isNew: false };
  if (known !== undefined) return { client: known, isNew: false };
  if (server.registrationEndpoint !== undefined) return { client: await register(options), isNew: true };
  throw needsClientId(options);
}

async function register(options: RegistrationOptions): Promise<OAuthClient> {
  const { server, redirectUri, fetch } = options;
  const { authMethods } = server;
  // A secret of a program that everybody can read is none, so it is asked for only where the server insists.
  const wanted = ['none', 'client_secret_post', 'client_secret_basic'].find((one) =>
    authMethods.includes(one),
  );
  const asked = {
    client_name: 'Trunkline',
    application_type: 'native',
    redirect_uris: [redirectUri],
    grant_types: options.grantTypes,
    response_types: ['code'],
    token_endpoint_auth_method: wanted ?? 'none',
    ...(options.scope !== undefined && { scope: options.scope }),
  };
  const answer = await fetch(new URL(server.registrationEndpoint ?? ''), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(asked),
  });
  if (answer.status < 200 || answer.status >= 300) {
    const error = errorFromAnswer(`The authorization server ${server.issuer} did not register us`, answer);
    if (server.isGuess === true && answer.status < 500) throw saysNothing(options);
    if (answer.status >= 500)
      throw new GatewayError('UPSTREAM_UNAVAILABLE', `${error.message}. Try again later.`);
    throw needsClientId(options, error.message);
  }
  const value = parsed(answer.text);
  const {
    client_id: id,
    client_secret: secret,
    token_endpoint_auth_method: method,
  } = isJsonObject(value) ? value : {};
  if (typeof id !== 'string' || id === '')
    throw needsClientId(
      options,
      `The authorization server ${server.issuer} registered us without a client_id`,
    );
  return {
    id,
    ...(typeof secret === 'string' && secret !== '' && { secret }),
    authMethod: typeof method === 'string' ? method : asked.token_endpoint_auth_method,
  };
}

function saysNothing({ upstream, server }: RegistrationOptions): GatewayError {
  return new GatewayError(
    'SIGN_IN_FAILED',
    `Server "${upstream}" does not say where to sign in, and there is nothing at the usual places of ${server.issuer}. If it takes ` +
      'a key, put that into its entry: "headers": { "Authorization": "Bearer ${env:…}" }.',
    { details: { upstream } },
  );
}

function needsClientId(
  { upstream, server, redirectUri }: RegistrationOptions,
  reason?: string,
): GatewayError {
  const why = reason ?? `The authorization server ${server.issuer} registers no clients by itself`;
  return new GatewayError(
    'SIGN_IN_FAILED',
    `${why}. Register an application there by hand, with the redirect address ${redirectUri}, and put its id into the ` +
      `configuration: "mcpServers": { ${JSON.stringify(upstream)}: { "auth": { "clientId": "…" } } }.`,
    { details: { upstream, issuer: server.issuer } },
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller says what is missing.
  }
}
