import { randomBytes } from 'node:crypto';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Caller } from '../../core/caller.ts';
import { SESSION_LIFETIME_MS, SealedIds } from './sealed-ids.ts';
import { readClientFacts } from './session-facts.ts';
import type { SessionFacts } from './session-facts.ts';

const caller: Caller = { id: 'key:anna', via: 'http', profile: 'default', groups: ['a', 'b'] };
const bound = { caller, path: '/mcp' };
const START = 1_800_000_000_000;
const WEEK = 7 * 24 * 60 * 60 * 1000;

async function ids(secret: Buffer, now: () => number = () => START): Promise<SealedIds> {
  const made = new SealedIds({ secret: () => Promise.resolve(secret), now });
  await made.ready();
  return made;
}

function facts(more: Partial<SessionFacts> = {}): SessionFacts {
  const info = { name: 'it', version: '1' };
  return { id: 'abc', protocol: '2025-11-25', issuedAt: START, info, capabilities: {}, ...more };
}

describe('sealed session ids', () => {
  test('session id: opens at any replica with the same secret and is plain ASCII', async () => {
    const secret = randomBytes(32);
    const [one, other] = [await ids(secret), await ids(secret)];
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.dictionary(
          fc.string({ unit: 'grapheme' }),
          fc.json().map((text) => JSON.parse(text) as unknown),
        ),
        async (name, capabilities) => {
          const introduced = readClientFacts({ clientInfo: { name }, capabilities });
          const given = facts(introduced);
          const id = one.seal(given, bound);
          expect(id).toMatch(/^[\w.-]{1,6000}$/);
          // Compare after a JSON round trip.
          expect(other.open(id, bound)).toEqual(JSON.parse(JSON.stringify(given)));
        },
      ),
      { numRuns: 100 },
    );
  });

  test('session id: is rejected when any character is changed, cut or added', async () => {
    const made = await ids(randomBytes(32));
    const id = made.seal(facts(), bound);
    expect(made.open(id, bound)).toBeDefined();
    for (let at = 0; at < id.length - 1; at++) {
      const changed = id.slice(0, at) + (id[at] === 'A' ? 'B' : 'A') + id.slice(at + 1);
      expect(made.open(changed, bound), `at ${at}`).toBeUndefined();
      expect(made.open(id.slice(0, at), bound)).toBeUndefined();
    }
    expect(made.open(`${id}AAAA`, bound)).toBeUndefined();
    fc.assert(fc.property(fc.string(), (text) => made.open(text, bound) === undefined));
  });

  test('session id: opens only for its caller, at its path and with its secret', async () => {
    const secret = randomBytes(32);
    const made = await ids(secret);
    const id = made.seal(facts(), bound);
    const others: Caller[] = [
      { ...caller, id: 'key:bert' },
      { ...caller, profile: 'other' },
      { ...caller, groups: ['a'] },
      { ...caller, tier: 'read' },
    ];
    for (const other of others) expect(made.open(id, { ...bound, caller: other })).toBeUndefined();
    expect(made.open(id, { ...bound, path: '/mcp/s/it' })).toBeUndefined();
    expect(made.open(id, { ...bound, caller: { ...caller, groups: ['b', 'a'] } })).toBeDefined();
    expect((await ids(randomBytes(32))).open(id, bound)).toBeUndefined();
  });

  test('session id: is sealed with a weekly key and opens until the session expires', async () => {
    const secret = randomBytes(32);
    let now = START;
    const made = await ids(secret, () => now);
    const old = made.seal(facts(), bound);
    now += WEEK;
    const next = made.seal(facts({ issuedAt: now }), bound);
    expect(next.split('.')[0]).not.toBe(old.split('.')[0]);
    // The key label is not trusted: the key of another week does not open the id.
    expect(made.open([next.split('.')[0], ...old.split('.').slice(1)].join('.'), bound)).toBeUndefined();
    now = START + SESSION_LIFETIME_MS - 1;
    expect([made.open(old, bound), made.open(next, bound)]).toMatchObject([{ id: 'abc' }, { id: 'abc' }]);
    now = START + SESSION_LIFETIME_MS;
    expect([made.open(old, bound), made.open(next, bound)]).toMatchObject([undefined, { id: 'abc' }]);
    now = START + 20 * WEEK;
    expect(made.open(next, bound)).toBeUndefined();
  });

  test('session id: is rejected when issued far in the future', async () => {
    const secret = randomBytes(32);
    const ahead = (await ids(secret)).seal(facts({ issuedAt: START + 2 * WEEK }), bound);
    expect((await ids(secret)).open(ahead, bound)).toBeUndefined();
  });

  test('session id: stays short for a client with oversized client info', async () => {
    const made = await ids(randomBytes(32));
    const clientInfo = { name: 'n'.repeat(5000), version: '1', icons: ['x'.repeat(5000)] };
    const capabilities = { elicitation: { url: {} }, roots: {}, experimental: { x: 'x'.repeat(9000) } };
    const introduced = readClientFacts({ clientInfo, capabilities });
    expect(introduced.capabilities).toEqual({ elicitation: { url: {} }, roots: {} });
    expect(introduced.info).toEqual({ name: 'n'.repeat(200), version: '1' });
    expect(made.seal(facts(introduced), bound).length).toBeLessThan(4000);
  });
});
