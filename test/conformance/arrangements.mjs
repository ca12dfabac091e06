const revisions = { legacy: '2025-11-25', modern: '2026-07-28' };
const legs = ['stdio', 'http'];
const eras = ['legacy', 'modern'];

/** Our fixture by itself: what it does not pass directly it cannot pass behind us. */
const direct = eras.map((client) => ({
  name: `${revisions[client]} directly`,
  release: 'newest',
  args: ({ fixtureUrl }) => ['server', '--url', fixtureUrl, '--requirements', revisions[client]],
}));

/** A client of one era and a server of the same or the other, over either leg. */
const through = eras.flatMap((client) =>
  eras.flatMap((server) =>
    legs.map((leg) => ({
      name: `${revisions[client]} through us to a ${server} server over ${leg}`,
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
  name: `stable suite through us to a legacy server over ${leg}`,
  release: 'stable',
  args: ({ gatewayUrl }) => ['server', '--url', gatewayUrl(leg, 'legacy'), '--suite', 'all'],
}));

/** We are the client of servers of the suite; those for signing in are left out until we can. */
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
  name: `${client.version} with us as the client, driven by a ${client.driver} one`,
  client,
}));

export const arrangements = [...direct, ...through, ...stable, ...asClient];
