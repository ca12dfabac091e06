import { json } from './answers.mjs';

/** Serves the metadata documents by which clients discover the authorization server. */
export function serveMetadata(as, path, response) {
  const { behaviour, issuer } = as;
  const issuerPath = new URL(issuer).pathname.replace(/\/$/, '');
  const where = {
    oauth: `/.well-known/oauth-authorization-server${issuerPath}`,
    'oidc-inserted': `/.well-known/openid-configuration${issuerPath}`,
    'oidc-appended': `${issuerPath}/.well-known/openid-configuration`,
  }[behaviour.metadata];
  if (!path.includes('/.well-known/')) return false;
  if (path !== where) {
    response.writeHead(404).end();
  } else if (behaviour.metadataRedirect !== undefined) {
    response.writeHead(302, { location: behaviour.metadataRedirect }).end();
  } else {
    json(response, behaviour.metadataStatus, metadataOf(as));
  }
  return true;
}

function metadataOf({ behaviour, issuer, base }) {
  return {
    issuer: behaviour.metadataIssuer ?? issuer,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    jwks_uri: `${base}/jwks`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_methods_supported: behaviour.authMethods,
    token_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'EdDSA'],
    ...(behaviour.pkce && { code_challenge_methods_supported: ['S256'] }),
    ...(behaviour.register && { registration_endpoint: `${base}/register` }),
    ...(behaviour.cimd && { client_id_metadata_document_supported: true }),
    ...(behaviour.iss && { authorization_response_iss_parameter_supported: true }),
    ...(behaviour.device && { device_authorization_endpoint: `${base}/device` }),
    ...(behaviour.revocation && { revocation_endpoint: `${base}/revoke` }),
    ...(behaviour.scopesSupported !== undefined && { scopes_supported: behaviour.scopesSupported }),
    ...(behaviour.metadataPadding > 0 && { padding: 'x'.repeat(behaviour.metadataPadding) }),
  };
}
