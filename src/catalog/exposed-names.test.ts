import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { UpstreamName } from '../core/ids.ts';
import { assignExposedNames, canBelongTo } from './exposed-names.ts';

const pair = (upstream: string, name: string) => ({ upstream: upstream as UpstreamName, name });
const names = (...pairs: [string, string][]) =>
  assignExposedNames(
    pairs.map(([upstream, name]) => pair(upstream, name)),
    '__',
  );

describe('exposed names', () => {
  test('exposed name: joins server and entry with the separator', () => {
    expect(names(['github', 'create_issue'], ['fs', 'read-file'])).toEqual([
      'github__create_issue',
      'fs__read-file',
    ]);
  });

  test('exposed name: replaces each unsupported character by an underscore', () => {
    expect(names(['my.server', 'repo/list'], ['bücher', '查询😀'])).toEqual([
      'my_server__repo_list',
      'b_cher_____',
    ]);
  });

  test('exposed name: shortens a long name and adds a hash of the original', () => {
    const [name, other] = names(['server', `${'x'.repeat(80)}a`], ['server', `${'x'.repeat(80)}b`]);
    expect(name).toHaveLength(64);
    expect(name).toMatch(/^server__x{47}_[0-9a-f]{8}$/);
    expect(other).not.toBe(name);
  });

  test('exposed name: keeps a name of exactly 64 characters', () => {
    expect(names(['s', 'x'.repeat(61)])).toEqual([`s__${'x'.repeat(61)}`]);
  });

  test('exposed name: adds a hash to both of two colliding names', () => {
    const both = names(['a__b', 'c'], ['a', 'b__c']);
    expect(both[0]).toMatch(/^a__b__c_[0-9a-f]{8}$/);
    expect(both[1]).toMatch(/^a__b__c_[0-9a-f]{8}$/);
    expect(both[0]).not.toBe(both[1]);
  });

  test('exposed name: stays unique when a tool imitates the hashed name of another', () => {
    const marked = names(['a__b', 'c'], ['a', 'b__c'])[1]!;
    const all = names(['a__b', 'c'], ['a', 'b__c'], ['a', marked.slice('a__'.length)]);
    expect(new Set(all).size).toBe(3);
  });

  test('exposed name: keeps its hashes stable across versions', () => {
    expect(names(['server', 'x'.repeat(100)], ['a__b', 'c'], ['a', 'b__c'])).toEqual([
      `server__${'x'.repeat(47)}_f8f35434`,
      'a__b__c_528239e9',
      'a__b__c_d28d61bb',
    ]);
  });

  test('exposed name: replaces an unsupported separator', () => {
    expect(assignExposedNames([pair('a', 'b')], '.')).toEqual(['a_b']);
  });
});

// A small alphabet makes collisions frequent.
const part = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '_', '.', '/', 'é'), maxLength: 4 }),
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 55, maxLength: 70 }),
);
const pairs = fc.uniqueArray(fc.tuple(part, part), {
  maxLength: 40,
  selector: (both) => JSON.stringify(both),
});
const separator = fc.constantFrom('__', '_', '-', '.');

describe('exposed names for arbitrary input', () => {
  test('exposed name: is unique, at most 64 characters long and plain for any input', () => {
    fc.assert(
      fc.property(pairs, separator, (all, between) => {
        const given = assignExposedNames(
          all.map(([upstream, name]) => pair(upstream, name)),
          between,
        );
        expect(new Set(given).size).toBe(all.length);
        for (const name of given) expect(name).toMatch(/^[A-Za-z0-9_-]{0,64}$/);
      }),
    );
  });

  test('exposed name: does not depend on the order of servers', () => {
    const shuffled = pairs.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        const given = names(...other);
        const byPair = new Map(other.map((both, at) => [JSON.stringify(both), given[at]]));
        expect(one.map((both) => byPair.get(JSON.stringify(both)))).toEqual(names(...one));
      }),
    );
  });

  test('exposed name: does not change when unrelated tools come and go', () => {
    const plain = ([upstream, name]: [string, string]) =>
      `${upstream}__${name}`.replace(/[^A-Za-z0-9_-]/gu, '_');
    fc.assert(
      fc.property(pairs, part, part, (others, upstream, name) => {
        const own: [string, string] = [upstream, name];
        const strangers = others.filter((other) => plain(other) !== plain(own));
        expect(names(own, ...strangers)[0]).toBe(names(own)[0]);
      }),
    );
  });

  test('exposed name: is recognised as a possible name of its own server', () => {
    fc.assert(
      fc.property(part, part, (upstream, name) => {
        expect(canBelongTo(names([upstream, name])[0]!, upstream as UpstreamName, '__')).toBe(true);
      }),
    );
    expect(canBelongTo('github__create_issue', 'gitlab' as UpstreamName, '__')).toBe(false);
  });

  test('exposed name: is recognised as a possible name of its own server with a hash of any length', () => {
    const upstream = `x__${'y'.repeat(40)}`;
    const own: [string, string][] = [
      [upstream, 'a.b'],
      [upstream, 'a_b'],
    ];
    for (const hashLength of [8, 32, 64]) {
      const [name = ''] = names(...own);
      expect(name).toMatch(new RegExp(`(?:^|_)[0-9a-f]{${hashLength}}$`));
      expect(canBelongTo(name, upstream as UpstreamName, '__')).toBe(true);
      // An entry of another server with this plain name makes the first entry move to a longer hash.
      own.push(['x', name.slice('x__'.length)]);
    }
  });
});
