import type { PolicyConfig, ProfileConfig, RuleConfig, Selection } from '../config/policy-config.ts';
import type { Caller } from '../model/caller.ts';
import type { Entry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { Tier } from '../model/tier.ts';
import { matchesAny, selects, selectsServer, subjectOf } from './selection.ts';
import type { Subject, SubjectFacts } from './selection.ts';

/** What becomes of an entry when a caller looks for it; `rule` says why. */
export type Decision =
  | { readonly verdict: 'allow'; readonly rule: string }
  | { readonly verdict: 'hide'; readonly rule: string }
  | { readonly verdict: 'ask'; readonly rule: string; readonly message?: string };

/** The rules as they concern one caller. Callers to whom the same rules apply share one. */
export interface CallerPolicy {
  /** Equal for callers who are told the same. */
  readonly key: string;
  /** Nothing is hidden and nobody is asked. */
  readonly isOpen: boolean;
  readonly decide: (entry: Entry) => Decision;
  /** Whether anything of a server may be for the caller; with the names of an entry, whether that entry may be. */
  readonly sees: (upstream: UpstreamName, names?: readonly string[]) => boolean;
  /**
   * Whether the caller may know of a server by itself, whatever it offers: the rules speak of servers, and not of entries
   * alone. Other tags than it has may be asked about.
   */
  readonly knows: (upstream: UpstreamName, tags?: readonly string[]) => boolean;
  /** Servers may be hidden from the caller although one of the same name without their tags would not be. */
  readonly hidesByTag: boolean;
}

export interface Policy {
  for(caller: Caller): CallerPolicy;
}

interface PolicyOptions extends SubjectFacts {
  readonly policy: PolicyConfig;
  readonly profiles: Readonly<Record<string, ProfileConfig>>;
}

/** The profile of callers to whom none was given; it has everything unless the configuration says otherwise. */
const DEFAULT_PROFILE = 'default';

/** Kinds of callers that are remembered; each costs one map of decisions. */
const MAX_KEPT = 1_000;
const ORDER: readonly Tier[] = ['read', 'write', 'destructive'];

/**
 * Seeing and calling ask the same function. Deny wins over ask, ask over allow, so that neither the order of rules nor
 * a rule that is added with `deny` can open anything.
 */
export function createPolicy(options: PolicyOptions): Policy {
  const kept = new Map<string, CallerPolicy>();
  // A session has one caller for all its calls; looking at rules each time would be on the path of a call.
  const known = new WeakMap<Caller, CallerPolicy>();
  return {
    for: (caller) => {
      let own = known.get(caller);
      if (own === undefined) known.set(caller, (own = shared(caller)));
      return own;
    },
  };
  function shared(caller: Caller): CallerPolicy {
    const rules = options.policy.rules.map((rule) => concerns(rule, caller));
    const key = JSON.stringify([caller.profile, caller.tier, rules.map(Number).join('')]);
    let same = kept.get(key);
    if (same === undefined) {
      const applying = options.policy.rules.filter((_, at) => rules[at]);
      if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string); // It is not empty.
      kept.set(key, (same = callerPolicy(key, caller, applying, options)));
    }
    return same;
  }
}

function callerPolicy(
  key: string,
  caller: Caller,
  rules: readonly RuleConfig[],
  options: PolicyOptions,
): CallerPolicy {
  const { policy, profiles } = options;
  // By own keys alone: a profile named like a member of every object is no profile.
  const profile = Object.hasOwn(profiles, caller.profile) ? profiles[caller.profile] : undefined;
  // Whoever was bound to a profile that is gone sees nothing, not everything.
  const isLost = profile === undefined && caller.profile !== DEFAULT_PROFILE;
  const decisions = new WeakMap<Entry, Decision>();
  return {
    key,
    isOpen:
      !isLost &&
      profile === undefined &&
      caller.tier === undefined &&
      policy.default === 'allow' &&
      rules.every(({ effect }) => effect === 'allow'),
    decide: (entry) => {
      let decision = decisions.get(entry);
      if (decision === undefined) {
        const subject = subjectOf(entry, options);
        decision = isLost ? outside(caller) : judge(subject, caller, rules, { policy, profile });
        decisions.set(entry, decision);
      }
      return decision;
    },
    hidesByTag: rules.some(
      ({ effect, what }) => effect === 'deny' && what.tags !== undefined && isWhole(what),
    ),
    sees: (upstream, names) => {
      const server = { upstream, tags: options.tagsOf(upstream) };
      const couldMean = (what: Selection): boolean => selectsServer(what, server) && couldName(what, names);
      return isPossible(couldMean, (what) => selectsServer(what, server) && isWhole(what, names));
    },
    knows: (upstream, tags = options.tagsOf(upstream)) => {
      const server = { upstream, tags };
      const speaksOf = (what: Selection): boolean =>
        selectsServer(what, server) &&
        (what.servers !== undefined || what.tags !== undefined || isWhole(what));
      return isPossible(speaksOf, (what) => selectsServer(what, server) && isWhole(what));
    },
  };
  function isPossible(
    isMeant: (what: Selection) => boolean,
    isDenied: (what: Selection) => boolean,
  ): boolean {
    if (isLost || (profile !== undefined && !isMeant(profile.what))) return false;
    if (rules.some(({ effect, what }) => effect === 'deny' && isDenied(what))) return false;
    return policy.default === 'allow' || rules.some(({ effect, what }) => effect !== 'deny' && isMeant(what));
  }
}

/** Whether every entry of a server is meant, or every one of these names. */
function isWhole({ names, kinds, tiers }: Selection, given?: readonly string[]): boolean {
  const isNamed = names === undefined || given?.some((name) => matchesAny(name, names)) === true;
  return isNamed && kinds === undefined && tiers === undefined;
}

function couldName({ names }: Selection, given: readonly string[] | undefined): boolean {
  return names === undefined || given === undefined || given.some((name) => matchesAny(name, names));
}

function judge(
  subject: Subject,
  caller: Caller,
  rules: readonly RuleConfig[],
  { policy, profile }: { readonly policy: PolicyConfig; readonly profile: ProfileConfig | undefined },
): Decision {
  if (profile !== undefined && !selects(profile.what, subject)) return outside(caller);
  if (caller.tier !== undefined && ORDER.indexOf(subject.tier) > ORDER.indexOf(caller.tier))
    return { verdict: 'hide', rule: `tier ${caller.tier}` };
  const meant = rules.filter(({ what }) => selects(what, subject));
  const first = (effect: RuleConfig['effect']): RuleConfig | undefined =>
    meant.find((rule) => rule.effect === effect);
  const denied = first('deny');
  if (denied !== undefined) return { verdict: 'hide', rule: denied.id };
  const asked = first('ask');
  if (asked !== undefined) {
    const { id, message } = asked;
    return { verdict: 'ask', rule: id, ...(message !== undefined && { message }) };
  }
  const allowed = first('allow');
  if (allowed !== undefined) return { verdict: 'allow', rule: allowed.id };
  return { verdict: policy.default === 'allow' ? 'allow' : 'hide', rule: 'default' };
}

function outside({ profile }: Caller): Decision {
  return { verdict: 'hide', rule: `profile ${profile}` };
}

function concerns({ who }: RuleConfig, caller: Caller): boolean {
  const { callers, groups, roles, profiles } = who;
  const anyOf = (given: readonly string[] | undefined, has: readonly string[]): boolean =>
    given === undefined || has.some((one) => matchesAny(one, given));
  return (
    anyOf(callers, [caller.id]) &&
    anyOf(groups, caller.groups ?? []) &&
    anyOf(roles, caller.roles ?? []) &&
    anyOf(profiles, [caller.profile])
  );
}
