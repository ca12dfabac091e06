import { expect, test } from 'vitest';

import { fileSchema } from './schema.ts';

const problemsOf = (value: unknown): readonly string[] =>
  fileSchema.safeParse(value).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

test.each(['10.0.0.5:7333', '[::1]:0', 'gateway-0.gateways.svc:7333', '0.0.0.0:65535'])(
  'fleet address: accepts %s',
  (address) => {
    expect(problemsOf({ fleet: { listen: address, address } })).toEqual([]);
  },
);

test.each(['7333', ':7333', 'host', 'http://host:1', 'host:1/x', 'a b:1', '::1:7333', 'host:65536'])(
  'fleet address: rejects %s',
  (address) => {
    expect(problemsOf({ fleet: { listen: address } })).toEqual([
      expect.stringContaining('fleet.listen: must be a host and a port'),
    ]);
  },
);

test('storage key: accepts a single reference and rejects a literal key', () => {
  expect(problemsOf({ storage: { key: '${env:TRUNKLINE_KEY}' } })).toEqual([]);
  expect(problemsOf({ storage: { key: '${file:/run/secrets/key}' } })).toEqual([]);
  for (const key of ['0123456789abcdef0123456789abcdef', 'x${env:KEY}', '${env:A}${env:B}', '${env:'])
    expect(problemsOf({ storage: { key } }), key).toHaveLength(1);
});
