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

export const arrangements = [...direct, ...through, ...stable];
