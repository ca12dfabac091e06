import { expect, test } from 'vitest';

import { turnOf } from './spread-client.mjs';

test.each([1, 2, 3])('spread client: rotates every session over %i gateways with equal load', (gateways) => {
  const sessions = 4;
  const turns = Array.from({ length: sessions * gateways * 5 }, (_, call) =>
    turnOf(call, { sessions, gateways }),
  );
  for (let session = 0; session < sessions; session++) {
    const visited = turns.filter((turn) => turn.session === session).map(({ gateway }) => gateway);
    expect(new Set(visited.slice(0, gateways)).size).toBe(gateways);
    expect(visited.slice(gateways)).toEqual(visited.slice(0, -gateways));
  }
  const each = Array.from(
    { length: gateways },
    (_, gateway) => turns.filter((turn) => turn.gateway === gateway).length,
  );
  expect(new Set(each)).toEqual(new Set([sessions * 5]));
});
