import type { Tier } from '../core/tier.ts';

export interface PolicyConfig {
  /** Applies to entries that no rule matches. */
  readonly default: 'allow' | 'deny';
  readonly rules: readonly RuleConfig[];
  /** The approvers of calls that match a rule with the effect `ask`, and the time that a call waits for the decision. */
  readonly ask?: { readonly by: readonly ('person' | 'client')[]; readonly waitMs: number };
}

/** The callers and entries that a rule matches, and its effect. The order of rules has no meaning. */
export interface RuleConfig {
  readonly id: string;
  readonly effect: 'allow' | 'deny' | 'ask';
  /** Globs; every condition that is present must hold. */
  readonly who: {
    readonly callers?: readonly string[] | undefined;
    readonly groups?: readonly string[] | undefined;
    readonly roles?: readonly string[] | undefined;
    readonly profiles?: readonly string[] | undefined;
  };
  readonly what: Selection;
  /** Shown to the person or model whose call the rule decides. */
  readonly message?: string | undefined;
}

/** A named selection of servers and entries with its exposure. */
export interface ProfileConfig {
  readonly description?: string | undefined;
  readonly what: Selection;
  readonly expose?: 'auto' | 'direct' | 'search' | 'code' | undefined;
}

/** Selects catalog entries. Every condition that is present must hold. A condition holds if one of its values matches. */
export interface Selection {
  /** Globs over server names. A server is selected by its name or by one of its tags. */
  readonly servers?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Globs over entry names, both as clients see them and as their servers call them; URIs for resources. */
  readonly names?: readonly string[] | undefined;
  readonly kinds?: readonly ('tool' | 'prompt' | 'resource')[] | undefined;
  readonly tiers?: readonly Tier[] | undefined;
}
