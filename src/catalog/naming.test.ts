import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { UpstreamName } from '../model/ids.ts';
import { exposedNames, mayBelongTo } from './naming.ts';

const pair = (upstream: string, name: string) => ({ upstream: upstream as UpstreamName, name });
const names = (...pairs: [string, string][]) =>
  exposedNames(
    pairs.map(([upstream, name]) => pair(upstream, name)),
    '__',
  );

describe('exposedNames', () => {
  test('joins upstream and entry', () => {
    expect(names(['github', 'create_issue'], ['fs', 'read-file'])).toEqual([
      'github__create_issue',
      'fs__read-file',
    ]);
  });

  test('replaces what clients do not take, one character for one', () => {
    expect(names(['my.server', 'repo/list'], ['bücher', '查询😀'])).toEqual([
      'my_server__repo_list',
      'b_cher_____',
    ]);
  });

  test('cuts a long name and marks it with a hash of the original', () => {
    const [name, other] = names(['server', `${'x'.repeat(80)}a`], ['server', `${'x'.repeat(80)}b`]);
    expect(name).toHaveLength(64);
    expect(name).toMatch(/^server__x{47}_[0-9a-f]{8}$/);
    expect(other).not.toBe(name);
  });

  test('leaves a name of exactly 64 characters as it is', () => {
    expect(names(['s', 'x'.repeat(61)])).toEqual([`s__${'x'.repeat(61)}`]);
  });

  test('marks both of two pairs that look the same, so that neither takes calls meant for the other', () => {
    const both = names(['a__b', 'c'], ['a', 'b__c']);
    expect(both[0]).toMatch(/^a__b__c_[0-9a-f]{8}$/);
    expect(both[1]).toMatch(/^a__b__c_[0-9a-f]{8}$/);
    expect(both[0]).not.toBe(both[1]);
  });

  test('marks the tool whose own name looks like a marked one of another', () => {
    const marked = names(['a__b', 'c'], ['a', 'b__c'])[1]!;
    const all = names(['a__b', 'c'], ['a', 'b__c'], ['a', marked.slice('a__'.length)]);
    expect(new Set(all).size).toBe(3);
  });

  test('keeps its names for ever', () => {
    expect(names(['server', 'x'.repeat(100)], ['a__b', 'c'], ['a', 'b__c'])).toEqual([
      `server__${'x'.repeat(47)}_f8f35434`,
      'a__b__c_528239e9',
      'a__b__c_d28d61bb',
    ]);
  });

  test('takes any separator', () => {
    expect(exposedNames([pair('a', 'b')], '.')).toEqual(['a_b']);
  });
});

// Few characters, so that clashes are frequent.
const part = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '_', '.', '/', 'é'), maxLength: 4 }),
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 55, maxLength: 70 }),
);
const pairs = fc.uniqueArray(fc.tuple(part, part), {
  maxLength: 40,
  selector: (both) => JSON.stringify(both),
});
const separator = fc.constantFrom('__', '_', '-', '.');

describe('whatever the names of servers and tools', () => {
  test('exposed names are different, short and plain', () => {
    fc.assert(
      fc.property(pairs, separator, (all, between) => {
        const given = exposedNames(
          all.map(([upstream, name]) => pair(upstream, name)),
          between,
        );
        expect(new Set(given).size).toBe(all.length);
        for (const name of given) expect(name).toMatch(/^[A-Za-z0-9_-]{0,64}$/);
      }),
    );
  });

  test('order does not matter', () => {
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

  test('a pair without a look-alike keeps its name when others come and go', () => {
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

  test('a name may belong to the upstream that it came from', () => {
    fc.assert(
      fc.property(part, part, (upstream, name) => {
        expect(mayBelongTo(names([upstream, name])[0]!, upstream as UpstreamName, '__')).toBe(true);
      }),
    );
    expect(mayBelongTo('github__create_issue', 'gitlab' as UpstreamName, '__')).toBe(false);
  });
});
