import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { PolicyConfig, ProfileConfig, RuleConfig, Selection } from '../config/policy-config.ts';
import type { Caller } from '../model/caller.ts';
import type { Entry, ToolEntry } from '../model/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../model/ids.ts';
import type { Tier } from '../model/tier.ts';
import { createPolicy } from './decide.ts';
import type { Decision } from './decide.ts';

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

describe('a decision', () => {
  test('without rules is what the default says', () => {
    const entry = tool('github', 'get_issue');
    expect(policy([]).for(anna).decide(entry)).toEqual({ verdict: 'allow', rule: 'default' });
    expect(policy([]).for(anna).isOpen).toBe(true);
    const closed = policy([], { default: 'deny' }).for(anna);
    expect(closed.decide(entry)).toEqual({ verdict: 'hide', rule: 'default' });
    expect(closed.isOpen).toBe(false);
  });

  test.each([
    ['server', { servers: ['git*'] }],
    ['tag', { tags: ['code'] }],
    ['server or tag', { servers: ['nobody'], tags: ['code'] }],
    ['exposed name', { names: ['github__get_*'] }],
    ["the server's own name", { names: ['get_issue'] }],
    ['kind', { kinds: ['tool' as const] }],
    ['tier', { tiers: ['read' as const] }],
  ])('is by %s', (_, what) => {
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
  ])('concerns whom the rule names by %s', (_, meant, other) => {
    const entry = tool('github', 'get_issue');
    const decide = (who: RuleConfig['who']): Decision =>
      policy([rule('r', 'deny', {}, who)])
        .for(anna)
        .decide(entry);
    expect(decide(meant)).toEqual({ verdict: 'hide', rule: 'r' });
    expect(decide(other)).toEqual({ verdict: 'allow', rule: 'default' });
  });

  test('is deny before ask before allow', () => {
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

  test('keeps a caller within the profile, and gives nothing to one whose profile is gone', () => {
    const profiles = { work: { what: { tags: ['work'] } } };
    const bound = policy([rule('all', 'allow')], { profiles });
    const inWork = bound.for({ ...anna, profile: 'work' });
    expect(inWork.decide(tool('slack', 'post', 'write'))).toMatchObject({ verdict: 'allow' });
    expect(inWork.decide(tool('github', 'get_issue'))).toEqual({ verdict: 'hide', rule: 'profile work' });
    for (const profile of ['gone', 'constructor', '__proto__']) {
      const lost = bound.for({ ...anna, profile });
      expect(lost.isOpen).toBe(false);
      expect(lost.decide(tool('slack', 'post'))).toEqual({ verdict: 'hide', rule: `profile ${profile}` });
    }
  });

  test('keeps a caller within the tier', () => {
    const reader = policy([rule('all', 'allow')]).for({ ...anna, tier: 'write' });
    const verdicts = (['read', 'write', 'destructive'] as const).map(
      (tier) => reader.decide(tool('github', tier, tier)).verdict,
    );
    expect(verdicts).toEqual(['allow', 'allow', 'hide']);
  });

  test('tells which servers there are for a caller', () => {
    const seen = (rules: readonly RuleConfig[], more = {}, caller = anna): string[] =>
      ['github', 'slack'].filter((name) =>
        policy(rules, more)
          .for(caller)
          .sees(name as UpstreamName),
      );
    expect(seen([])).toEqual(['github', 'slack']);
    expect(seen([rule('r', 'deny', { servers: ['slack'] })])).toEqual(['github']);
    expect(seen([rule('r', 'deny', { servers: ['slack'], tiers: ['write'] })])).toEqual(['github', 'slack']);
    expect(seen([rule('r', 'allow', { names: ['x'], tags: ['chat'] })], { default: 'deny' })).toEqual([
      'slack',
    ]);
    const profiles = { work: { what: { tags: ['work'] } } };
    expect(seen([], { profiles }, { ...anna, profile: 'work' })).toEqual(['slack']);
    expect(seen([], { profiles }, { ...anna, profile: 'gone' })).toEqual([]);
  });

  test('tells of no server by itself where only entries are spoken of', () => {
    const slack = 'slack' as UpstreamName;
    const profiles = {
      entries: { what: { names: ['github__*'] } },
      servers: { what: { servers: ['slack'], names: ['post'] } },
      reading: { what: { tiers: ['read'] } },
    } as const;
    const known = (rules: readonly RuleConfig[], more = {}, profile = 'default'): boolean[] => {
      const { sees, knows } = policy(rules, { profiles, ...more }).for({ ...anna, profile });
      return [knows(slack), sees(slack), sees(slack, ['slack__post', 'post'])];
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

  test('tells where a tag hides a server whose name would be seen without it', () => {
    const hidden = policy([rule('r', 'deny', { tags: ['chat'] })]).for(anna);
    const slack = 'slack' as UpstreamName;
    expect([hidden.hidesByTag, hidden.knows(slack), hidden.knows(slack, [])]).toEqual([true, false, true]);
    for (const what of [{ servers: ['slack'] }, { tags: ['chat'], tiers: ['write'] }] as const)
      expect(policy([rule('r', 'deny', what)]).for(anna).hidesByTag).toBe(false);
    expect(policy([rule('r', 'deny', { tags: ['chat'] }, { groups: ['x'] })]).for(anna).hidesByTag).toBe(
      false,
    );
  });

  test('is shared by callers who are told the same, and by nobody else', () => {
    const rules = policy([rule('r', 'deny', {}, { groups: ['team'] })]);
    expect(rules.for(anna)).toBe(rules.for({ ...anna, id: 'bert' }));
    expect(rules.for(anna)).not.toBe(rules.for({ ...anna, groups: [] }));
    expect(rules.for(anna)).not.toBe(rules.for({ ...anna, tier: 'read' }));
  });
});

describe('rules, whatever they are', () => {
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

  test('one more deny never adds a permission', () => {
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

  test('mean the same in any order', () => {
    const shuffled = fc
      .array(anyRule, { maxLength: 6 })
      .chain((rules) =>
        fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length })),
      );
    fc.assert(
      fc.property(shuffled, caller, entry, setting, ([rules, other], who, what, byDefault) => {
        const verdict = (given: readonly RuleConfig[]) =>
          policy(given, { default: byDefault }).for(who).decide(what).verdict;
        expect(verdict(other)).toBe(verdict(rules));
      }),
    );
  });

  test('open means that everything is allowed', () => {
    fc.assert(
      fc.property(fc.array(anyRule), caller, entry, setting, (rules, who, what, byDefault) => {
        const own = policy(rules, { default: byDefault, profiles: { a: { what: {} } } }).for(who);
        if (own.isOpen) expect(own.decide(what).verdict).toBe('allow');
      }),
    );
  });
});
