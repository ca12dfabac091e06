/** How the authorization server and the MCP server behind it behave; tests change any of it while they run, at `POST /control`. */
export function defaultBehaviour() {
  return {
    // What is published. `prm`: at `/.well-known/…/mcp`, at the root, or nowhere; `metadata`: which well-known answers.
    prm: 'path',
    prmInChallenge: true,
    prmResource: undefined,
    prmScopes: undefined,
    metadata: 'oauth',
    metadataIssuer: undefined,
    authMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    scopesSupported: undefined,
    pkce: true,
    register: true,
    cimd: false,
    iss: true,
    device: true,
    revocation: true,
    // What tokens are like.
    tokenTtl: 3600,
    refreshTokens: true,
    rotate: true,
    reuseDetection: true,
    refreshAnswersHaveRefreshToken: true,
    consent: 'auto',
    account: 'ada@example.com',
    // What the MCP server wants: scopes by method, and the scope that its first challenge names.
    scopes: {},
    challengeScope: undefined,
    openMethods: [],
    // Where MCP is served: each place is a server of its own, with its own metadata and its own tokens.
    paths: ['/mcp'],
    // Misbehaviour.
    slowMs: 0,
    slowTokenMs: 0,
    metadataStatus: 200,
    metadataRedirect: undefined,
    metadataPadding: 0,
    registerStatus: 201,
    registerAnswer: undefined,
    tokenStatus: 200,
    tokenAnswer: undefined,
    tokenRedirect: undefined,
    tokenError: undefined,
    authorizeError: undefined,
    wrongIss: undefined,
    dropState: false,
    secretFor: undefined,
  };
}
