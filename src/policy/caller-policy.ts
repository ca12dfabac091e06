import type { PolicyConfig, ProfileConfig, RuleConfig, Selection } from '../config/policy-config.ts';
import type { Caller } from '../core/caller.ts';
import type { Entry } from '../core/entry.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { Tier } from '../core/tier.ts';
import { matchesAny, toPolicySubject, matchesSelection, matchesServerSelection } from './selection.ts';
import type { PolicySubject, SubjectLookups } from './selection.ts';

/** The decision of the policy about an entry for one caller. `rule` names the rule, profile or tier that led to it. */
export type Decision =
  | { readonly verdict: 'allow'; readonly rule: string }
  | { readonly verdict: 'hide'; readonly rule: string }
  | { readonly verdict: 'ask'; readonly rule: string; readonly message?: string | undefined };

/** The policy for one caller. Callers to whom the same rules apply share one object. */
export interface CallerPolicy {
  /** Equal for callers with the same decisions. */
  readonly key: string;
  /** Whether nothing is hidden and no call needs approval. */
  readonly isUnrestricted: boolean;
  readonly decide: (entry: Entry) => Decision;
  /** Whether the caller may see any entry of a server; with `names`, whether it may see an entry with one of these names. */
  readonly canSee: (upstream: UpstreamName, names?: readonly string[]) => boolean;
  /**
   * Whether the caller may know that a server exists, whatever the server offers. False if the profile or the rules select only single
   * entries of the server, or deny all of them. By default, `tags` are the server's tags in the configuration.
   */
  readonly canKnowServer: (upstream: UpstreamName, tags?: readonly string[]) => boolean;
  /** Whether a rule hides whole servers by their tags. A server of the same name without these tags could be visible. */
  readonly hidesByTag: boolean;
}

export interface Policy {
  for(caller: Caller): CallerPolicy;
}

interface PolicyOptions extends SubjectLookups {
  readonly policy: PolicyConfig;
  readonly profiles: Readonly<Record<string, ProfileConfig>>;
}

/** The profile of callers without one; it includes everything unless the configuration defines it. */
const DEFAULT_PROFILE = 'default';

/** Maximum number of distinct caller policies in memory; each holds one map of decisions. */
const MAX_CACHED_POLICIES = 1_000;
const TIER_ORDER: readonly Tier[] = ['read', 'write', 'destructive'];

/**
 * Creates the policy that decides both what callers see and what they may call. `deny` wins over `ask`, and `ask` over
 * `allow`, so the order of rules does not matter, and adding a `deny` rule cannot open anything.
 */
export function createPolicy(options: PolicyOptions): Policy {
  const policiesByKey = new Map<string, CallerPolicy>();
  // All calls of a session have the same caller object, so only the first of them evaluates the rules.
  const policiesByCaller = new WeakMap<Caller, CallerPolicy>();
  return {
    for: (caller) => {
      let policy = policiesByCaller.get(caller);
      if (policy === undefined) policiesByCaller.set(caller, (policy = sharedPolicy(caller)));
      return policy;
    },
  };
  // A policy depends only on the caller's profile, its tier and the rules that apply to it. Callers that agree in these share one.
  function sharedPolicy(caller: Caller): CallerPolicy {
    const matches = options.policy.rules.map((rule) => appliesTo(rule, caller));
    const key = JSON.stringify([caller.profile, caller.tier, matches.map(Number).join('')]);
    let policy = policiesByKey.get(key);
    if (policy === undefined) {
      const rules = options.policy.rules.filter((_, index) => matches[index]);
      // The cast is safe because the map is not empty here.
      if (policiesByKey.size >= MAX_CACHED_POLICIES)
        policiesByKey.delete(policiesByKey.keys().next().value as string);
      policiesByKey.set(key, (policy = createCallerPolicy(key, caller, rules, options)));
    }
    return policy;
  }
}

function appliesTo({ who }: RuleConfig, caller: Caller): boolean {
  const { callers, groups, roles, profiles } = who;
  const matchesOne = (globs: readonly string[] | undefined, values: readonly string[]): boolean =>
    globs === undefined || values.some((value) => matchesAny(value, globs));
  return (
    matchesOne(callers, [caller.id]) &&
    matchesOne(groups, caller.groups ?? []) &&
    matchesOne(roles, caller.roles ?? []) &&
    matchesOne(profiles, [caller.profile])
  );
}

function createCallerPolicy(
  key: string,
  caller: Caller,
  rules: readonly RuleConfig[],
  options: PolicyOptions,
): CallerPolicy {
  const { policy, profiles } = options;
  // `hasOwn` is needed because a caller's profile may have the name of a member of Object.prototype.
  const profile = Object.hasOwn(profiles, caller.profile) ? profiles[caller.profile] : undefined;
  // A caller whose profile was removed from the configuration sees nothing, rather than everything.
  const isProfileMissing = profile === undefined && caller.profile !== DEFAULT_PROFILE;
  const callerRules: CallerRules = { policy, profile, rules };
  const decisions = new WeakMap<Entry, Decision>();
  return {
    key,
    isUnrestricted:
      !isProfileMissing &&
      profile === undefined &&
      caller.tier === undefined &&
      policy.default === 'allow' &&
      rules.every(({ effect }) => effect === 'allow'),
    decide: (entry) => {
      let decision = decisions.get(entry);
      if (decision === undefined) {
        const subject = toPolicySubject(entry, options);
        decision = isProfileMissing ? hiddenByProfile(caller) : decideSubject(subject, caller, callerRules);
        decisions.set(entry, decision);
      }
      return decision;
    },
    hidesByTag: rules.some(
      ({ effect, what }) => effect === 'deny' && what.tags !== undefined && selectsAllEntries(what),
    ),
    canSee: (upstream, names) => {
      if (isProfileMissing) return false;
      const server = { upstream, tags: options.tagsOf(upstream) };
      return isPossible(
        callerRules,
        (what) => matchesServerSelection(what, server) && canSelectNames(what, names),
        (what) => matchesServerSelection(what, server) && selectsAllEntries(what, names),
      );
    },
    canKnowServer: (upstream, tags = options.tagsOf(upstream)) =>
      !isProfileMissing && canKnow(callerRules, { upstream, tags }),
  };
}

/** Whether the rules select the whole server rather than only single entries of it. */
function canKnow(
  callerRules: CallerRules,
  server: { readonly upstream: UpstreamName; readonly tags: readonly string[] },
): boolean {
  return isPossible(
    callerRules,
    (what) =>
      matchesServerSelection(what, server) &&
      (what.servers !== undefined || what.tags !== undefined || selectsAllEntries(what)),
    (what) => matchesServerSelection(what, server) && selectsAllEntries(what),
  );
}

interface CallerRules {
  readonly policy: PolicyConfig;
  readonly profile: ProfileConfig | undefined;
  /** The rules that apply to the caller. */
  readonly rules: readonly RuleConfig[];
}

/**
 * Whether the profile and the rules can leave a target visible. `isIncluded` returns whether a selection includes at least a part of the
 * target, and `isDenied` whether a selection includes all of it. The target must be in the profile, not be denied as a whole, and be
 * allowed by a rule or by default.
 */
function isPossible(
  { policy, profile, rules }: CallerRules,
  isIncluded: (what: Selection) => boolean,
  isDenied: (what: Selection) => boolean,
): boolean {
  if (profile !== undefined && !isIncluded(profile.what)) return false;
  if (rules.some(({ effect, what }) => effect === 'deny' && isDenied(what))) return false;
  return (
    policy.default === 'allow' || rules.some(({ effect, what }) => effect !== 'deny' && isIncluded(what))
  );
}

/**
 * Whether the selection includes every entry of its servers; with `names`, whether it includes every entry
 * with one of these names.
 */
function selectsAllEntries({ names: globs, kinds, tiers }: Selection, names?: readonly string[]): boolean {
  const selectsNames = globs === undefined || names?.some((name) => matchesAny(name, globs)) === true;
  return selectsNames && kinds === undefined && tiers === undefined;
}

function canSelectNames({ names: globs }: Selection, names: readonly string[] | undefined): boolean {
  return globs === undefined || names === undefined || names.some((name) => matchesAny(name, globs));
}

function decideSubject(
  subject: PolicySubject,
  caller: Caller,
  { policy, profile, rules }: CallerRules,
): Decision {
  if (profile !== undefined && !matchesSelection(profile.what, subject)) return hiddenByProfile(caller);
  if (caller.tier !== undefined && TIER_ORDER.indexOf(subject.tier) > TIER_ORDER.indexOf(caller.tier))
    return { verdict: 'hide', rule: `tier ${caller.tier}` };
  const matching = rules.filter(({ what }) => matchesSelection(what, subject));
  const deny = matching.find(({ effect }) => effect === 'deny');
  if (deny !== undefined) return { verdict: 'hide', rule: deny.id };
  const ask = matching.find(({ effect }) => effect === 'ask');
  if (ask !== undefined) return { verdict: 'ask', rule: ask.id, message: ask.message };
  const allow = matching.find(({ effect }) => effect === 'allow');
  if (allow !== undefined) return { verdict: 'allow', rule: allow.id };
  return { verdict: policy.default === 'allow' ? 'allow' : 'hide', rule: 'default' };
}

function hiddenByProfile({ profile }: Caller): Decision {
  return { verdict: 'hide', rule: `profile ${profile}` };
}
