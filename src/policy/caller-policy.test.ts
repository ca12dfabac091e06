import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { PolicyConfig, ProfileConfig, RuleConfig, Selection } from '../config/policy-config.ts';
import type { Caller } from '../core/caller.ts';
import type { Entry, ToolEntry } from '../core/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../core/ids.ts';
import type { Tier } from '../core/tier.ts';
import { createPolicy } from './caller-policy.ts';
import type { Decision } from './caller-policy.ts';

const TAGS: Readonly<Record<string, readonly string[]>> = { github: ['code'], slack: ['chat', 'work'] };

function tool(upstream: string, name: string, tier: Tier = 'read'): ToolEntry {
  return {
    kind: 'tool',
    upstream: upstream as UpstreamName,
    fingerprint: 'f' as Fingerprint,
    name: `${upstream}__${name}` as ExposedName,
    definition: { name, tier },
  };
}

function policy(rules: readonly RuleConfig[], more: Partial<PolicyConfig> & Profiles = {}) {
  const { profiles = {}, ...settings } = more;
  return createPolicy({
    policy: { default: 'allow', rules, ...settings },
    profiles,
    tagsOf: (upstream) => TAGS[upstream] ?? [],
    tierOf: ({ definition }) => definition['tier'] as Tier,
  });
}
interface Profiles {
  readonly profiles?: Readonly<Record<string, ProfileConfig>>;
}

const anna: Caller = { id: 'anna', via: 'http', profile: 'default', groups: ['team'], roles: ['dev'] };
const rule = (id: string, effect: RuleConfig['effect'], what: Selection = {}, who = {}): RuleConfig => ({
  id,
  effect,
  who,
  what,
});

describe('decisions', () => {
  test('decision: falls back to the default without rules', () => {
    const entry = tool('github', 'get_issue');
    expect(policy([]).for(anna).decide(entry)).toEqual({ verdict: 'allow', rule: 'default' });
    expect(policy([]).for(anna).isUnrestricted).toBe(true);
    const closed = policy([], { default: 'deny' }).for(anna);
    expect(closed.decide(entry)).toEqual({ verdict: 'hide', rule: 'default' });
    expect(closed.isUnrestricted).toBe(false);
  });

  test.each([
    ['server', { servers: ['git*'] }],
    ['tag', { tags: ['code'] }],
    ['server or tag', { servers: ['nobody'], tags: ['code'] }],
    ['exposed name', { names: ['github__get_*'] }],
    ["the server's own name", { names: ['get_issue'] }],
    ['kind', { kinds: ['tool' as const] }],
    ['tier', { tiers: ['read' as const] }],
  ])('rule: matches entries by %s', (_, what) => {
    const asked = policy([rule('r', 'deny', what)]).for(anna);
    expect(asked.decide(tool('github', 'get_issue'))).toEqual({ verdict: 'hide', rule: 'r' });
    const prompt = { ...tool('slack', 'other', 'write'), kind: 'prompt' } as unknown as Entry;
    const spared = 'tiers' in what ? tool('slack', 'other', 'write') : prompt;
    expect(asked.decide(spared)).toMatchObject({ verdict: 'allow' });
  });

  test.each([
    ['caller', { callers: ['an*'] }, { callers: ['bert'] }],
    ['group', { groups: ['team'] }, { groups: ['other'] }],
    ['role', { roles: ['dev'] }, { roles: ['admin'] }],
    ['profile', { profiles: ['default'] }, { profiles: ['work'] }],
    ['all of them', { callers: ['anna'], groups: ['team'] }, { callers: ['anna'], groups: ['other'] }],
  ])('rule: matches callers by %s', (_, meant, other) => {
    const entry = tool('github', 'get_issue');
    const decide = (who: RuleConfig['who']): Decision =>
      policy([rule('r', 'deny', {}, who)])
        .for(anna)
        .decide(entry);
    expect(decide(meant)).toEqual({ verdict: 'hide', rule: 'r' });
    expect(decide(other)).toEqual({ verdict: 'allow', rule: 'default' });
  });

  test('decision: prefers deny over ask over allow', () => {
    const entry = tool('github', 'get_issue');
    const [allow, ask, deny] = [rule('a', 'allow'), rule('b', 'ask'), rule('c', 'deny')];
    const decide = (...rules: RuleConfig[]): Decision => policy(rules).for(anna).decide(entry);
    expect(decide(allow, ask, deny)).toEqual({ verdict: 'hide', rule: 'c' });
    expect(decide(allow, { ...ask, message: 'Careful.' })).toEqual({
      verdict: 'ask',
      rule: 'b',
      message: 'Careful.',
    });
    expect(decide(allow)).toEqual({ verdict: 'allow', rule: 'a' });
  });

  test('profile: limits the caller to its entries, and an unknown profile allows nothing', () => {
    const profiles = { work: { what: { tags: ['work'] } } };
    const bound = policy([rule('all', 'allow')], { profiles });
    const inWork = bound.for({ ...anna, profile: 'work' });
    expect(inWork.decide(tool('slack', 'post', 'write'))).toMatchObject({ verdict: 'allow' });
    expect(inWork.decide(tool('github', 'get_issue'))).toEqual({ verdict: 'hide', rule: 'profile work' });
    for (const profile of ['gone', 'constructor', '__proto__']) {
      const lost = bound.for({ ...anna, profile });
      expect(lost.isUnrestricted).toBe(false);
      expect(lost.decide(tool('slack', 'post'))).toEqual({ verdict: 'hide', rule: `profile ${profile}` });
    }
  });

  test("tier limit: hides tools above the caller's tier", () => {
    const reader = policy([rule('all', 'allow')]).for({ ...anna, tier: 'write' });
    const verdicts = (['read', 'write', 'destructive'] as const).map(
      (tier) => reader.decide(tool('github', tier, tier)).verdict,
    );
    expect(verdicts).toEqual(['allow', 'allow', 'hide']);
  });

  test('server visibility: shows only servers that rules and profile leave visible', () => {
    const visibleServers = (rules: readonly RuleConfig[], more = {}, caller = anna): string[] =>
      ['github', 'slack'].filter((name) =>
        policy(rules, more)
          .for(caller)
          .canSee(name as UpstreamName),
      );
    expect(visibleServers([])).toEqual(['github', 'slack']);
    expect(visibleServers([rule('r', 'deny', { servers: ['slack'] })])).toEqual(['github']);
    expect(visibleServers([rule('r', 'deny', { servers: ['slack'], tiers: ['write'] })])).toEqual([
      'github',
      'slack',
    ]);
    expect(
      visibleServers([rule('r', 'allow', { names: ['x'], tags: ['chat'] })], { default: 'deny' }),
    ).toEqual(['slack']);
    const profiles = { work: { what: { tags: ['work'] } } };
    expect(visibleServers([], { profiles }, { ...anna, profile: 'work' })).toEqual(['slack']);
    expect(visibleServers([], { profiles }, { ...anna, profile: 'gone' })).toEqual([]);
  });

  test('server visibility: does not reveal servers when rules name only entries', () => {
    const slack = 'slack' as UpstreamName;
    const profiles = {
      entries: { what: { names: ['github__*'] } },
      servers: { what: { servers: ['slack'], names: ['post'] } },
      reading: { what: { tiers: ['read'] } },
    } as const;
    const known = (rules: readonly RuleConfig[], more = {}, profile = 'default'): boolean[] => {
      const { canSee, canKnowServer } = policy(rules, { profiles, ...more }).for({
        ...anna,
        profile,
      });
      return [canKnowServer(slack), canSee(slack), canSee(slack, ['slack__post', 'post'])];
    };
    expect(known([])).toEqual([true, true, true]);
    expect(known([], {}, 'entries')).toEqual([false, true, false]);
    expect(known([], {}, 'servers')).toEqual([true, true, true]);
    expect(known([], {}, 'reading')).toEqual([false, true, true]);
    expect(known([rule('r', 'deny', { names: ['post'] })])).toEqual([true, true, false]);
    expect(known([rule('r', 'deny', { names: ['post'], tiers: ['write'] })])).toEqual([true, true, true]);
    const closed = { default: 'deny' } as const;
    expect(known([rule('r', 'allow', { names: ['get_*'] })], closed)).toEqual([false, true, false]);
    expect(known([rule('r', 'ask', { names: ['post'] })], closed)).toEqual([false, true, true]);
    expect(known([rule('r', 'allow')], closed)).toEqual([true, true, true]);
  });

  test('server visibility: detects a server that is hidden only by a tag', () => {
    const hidden = policy([rule('r', 'deny', { tags: ['chat'] })]).for(anna);
    const slack = 'slack' as UpstreamName;
    expect([hidden.hidesByTag, hidden.canKnowServer(slack), hidden.canKnowServer(slack, [])]).toEqual([
      true,
      false,
      true,
    ]);
    for (const what of [{ servers: ['slack'] }, { tags: ['chat'], tiers: ['write'] }] as const)
      expect(policy([rule('r', 'deny', what)]).for(anna).hidesByTag).toBe(false);
    expect(policy([rule('r', 'deny', { tags: ['chat'] }, { groups: ['x'] })]).for(anna).hidesByTag).toBe(
      false,
    );
  });

  test('policy: is shared by callers with the same decisions', () => {
    const rules = policy([rule('r', 'deny', {}, { groups: ['team'] })]);
    expect(rules.for(anna)).toBe(rules.for({ ...anna, id: 'bert' }));
    expect(rules.for(anna)).not.toBe(rules.for({ ...anna, groups: [] }));
    expect(rules.for(anna)).not.toBe(rules.for({ ...anna, tier: 'read' }));
  });
});

describe('rule properties', () => {
  const word = fc.constantFrom('a', 'b', '*', 'a*', '?');
  const some = fc.array(word, { minLength: 1, maxLength: 2 });
  const tiers = fc.array(fc.constantFrom<Tier>('read', 'write', 'destructive'), {
    minLength: 1,
    maxLength: 2,
  });
  const who = fc.record({ callers: some, groups: some, roles: some, profiles: some }, { requiredKeys: [] });
  const what = fc.record(
    { servers: some, tags: some, names: some, tiers, kinds: fc.constant(['tool' as const]) },
    { requiredKeys: [] },
  );
  const anyRule = fc.record({
    id: fc.uuid(),
    effect: fc.constantFrom<RuleConfig['effect']>('allow', 'deny', 'ask'),
    who,
    what,
  }) as fc.Arbitrary<RuleConfig>;
  const caller = fc.record({
    id: fc.constantFrom('a', 'b', 'ab'),
    via: fc.constant('http' as const),
    profile: fc.constantFrom('default', 'a'),
    groups: fc.subarray(['a', 'b']),
    roles: fc.subarray(['a', 'b']),
  });
  const entry = fc
    .tuple(fc.constantFrom('a', 'b'), fc.constantFrom('a', 'b', 'ab'), fc.constantFrom<Tier>('read', 'write'))
    .map(([upstream, name, tier]) => tool(upstream, name, tier));
  const setting = fc.constantFrom<PolicyConfig['default']>('allow', 'deny');
  const rank = { hide: 0, ask: 1, allow: 2 };

  test('deny rule: never adds a permission', () => {
    fc.assert(
      fc.property(
        fc.array(anyRule),
        anyRule,
        caller,
        entry,
        setting,
        (rules, added, who, what, byDefault) => {
          const before = policy(rules, { default: byDefault }).for(who).decide(what).verdict;
          const deny = { ...added, effect: 'deny' as const };
          const after = policy([...rules, deny], { default: byDefault })
            .for(who)
            .decide(what).verdict;
          expect(rank[after]).toBeLessThanOrEqual(rank[before]);
        },
      ),
    );
  });

  test('rules: decide the same in any order', () => {
    const shuffled = fc
      .array(anyRule, { maxLength: 6 })
      .chain((rules) =>
        fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length })),
      );
    fc.assert(
      fc.property(shuffled, caller, entry, setting, ([rules, other], who, what, byDefault) => {
        const verdict = (tested: readonly RuleConfig[]) =>
          policy(tested, { default: byDefault }).for(who).decide(what).verdict;
        expect(verdict(other)).toBe(verdict(rules));
      }),
    );
  });

  test('open policy: allows everything', () => {
    fc.assert(
      fc.property(fc.array(anyRule), caller, entry, setting, (rules, who, what, byDefault) => {
        const own = policy(rules, { default: byDefault, profiles: { a: { what: {} } } }).for(who);
        if (own.isUnrestricted) expect(own.decide(what).verdict).toBe('allow');
      }),
    );
  });
});
