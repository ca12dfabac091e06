const revisions = { legacy: '2025-11-25', modern: '2026-07-28' };
const legs = ['stdio', 'http'];
const eras = ['legacy', 'modern'];

/** The fixture server without a gateway: a scenario that fails here cannot pass through Trunkline. */
const direct = eras.map((client) => ({
  name: `${revisions[client]} directly`,
  release: 'newest',
  args: ({ fixtureUrl }) => ['server', '--url', fixtureUrl, '--requirements', revisions[client]],
}));

/** Every combination of client era, server era and transport to the server. */
const through = eras.flatMap((client) =>
  eras.flatMap((server) =>
    legs.map((leg) => ({
      name: `${revisions[client]} through Trunkline to a ${server} server over ${leg}`,
      release: 'newest',
      args: ({ gatewayUrl }) => [
        'server',
        '--url',
        gatewayUrl(leg, server),
        '--requirements',
        revisions[client],
      ],
    })),
  ),
);

const stable = legs.map((leg) => ({
  name: `stable suite through Trunkline to a legacy server over ${leg}`,
  release: 'stable',
  args: ({ gatewayUrl }) => ['server', '--url', gatewayUrl(leg, 'legacy'), '--suite', 'all'],
}));

/** Servers that require a sign-in; a browser that accepts everything plays the person. */
const signIn = [
  'metadata-default',
  'metadata-var1',
  'metadata-var2',
  'metadata-var3',
  'basic-cimd',
  'pre-registration',
  'scope-from-www-authenticate',
  'scope-from-scopes-supported',
  'scope-omitted-when-undefined',
  'scope-step-up',
  'scope-retry-limit',
  'token-endpoint-auth-basic',
  'token-endpoint-auth-post',
  'token-endpoint-auth-none',
];
/** Extensions of the protocol, which the suite runs only with `--force`. */
const extensions = ['client-credentials-basic', 'client-credentials-jwt'];
/** Scenarios of 2025-03-26, the first revision with authorization, in which servers are their own authorization servers. */
const early = ['2025-03-26-oauth-metadata-backcompat', '2025-03-26-oauth-endpoint-fallback'];
const newSignIn = [
  'resource-mismatch',
  'offline-access-scope',
  'offline-access-not-supported',
  'authorization-server-migration',
  'iss-supported',
  'iss-not-advertised',
  'iss-supported-missing',
  'iss-wrong-issuer',
  'iss-unexpected',
  'iss-normalized',
  'metadata-issuer-mismatch',
];
const asSignedIn = [
  { version: '2025-11-25', driver: 'legacy', scenarios: signIn },
  { version: '2026-07-28', driver: 'modern', scenarios: [...signIn, ...newSignIn] },
  { version: '2025-11-25', driver: 'legacy', scenarios: [...extensions, ...early], force: true },
].map(({ scenarios, ...client }) => ({
  name: `${client.version} sign-in to servers${client.force === true ? ', extensions' : ''}`,
  client: { ...client, scenarios: scenarios.map((scenario) => `auth/${scenario}`) },
}));

/** Trunkline as the client of the servers of the suite. */
const asClient = [
  {
    version: '2025-11-25',
    driver: 'legacy',
    scenarios: ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'],
  },
  ...eras.map((driver) => ({
    version: '2026-07-28',
    driver,
    scenarios: [
      'tools_call',
      'request-metadata',
      'sep-2322-client-request-state',
      'http-standard-headers',
      'http-custom-headers',
      'http-invalid-tool-headers',
      'json-schema-ref-no-deref',
    ],
  })),
].map((client) => ({
  name: `${client.version} with Trunkline as the client, driven by a ${client.driver} client`,
  client,
}));

export const arrangements = [...direct, ...through, ...stable, ...asClient, ...asSignedIn];
