/** The behaviour of the authorization server and its MCP server. Tests can change all of it with `POST /control`. */
export function defaultBehaviour() {
  return {
    // Published metadata. `prm`: at `/.well-known/…/mcp`, at the root, or nowhere; `metadata`: which well-known path answers.
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
    // Properties of tokens.
    tokenTtl: 3600,
    refreshTokens: true,
    rotate: true,
    reuseDetection: true,
    refreshAnswersHaveRefreshToken: true,
    consent: 'auto',
    account: 'ada@example.com',
    // Requirements of the MCP server: scopes by method, and the scope in its first challenge.
    scopes: {},
    challengeScope: undefined,
    openMethods: [],
    // Paths of MCP servers; each is a separate server with its own metadata and tokens.
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
