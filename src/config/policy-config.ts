import type { Tier } from '../model/tier.ts';

/** Which entries are meant. Every dimension that is given must hold; within one, any of its values will do. */
export interface Selection {
  /** Globs over names of servers. A server is meant by its name or by one of its tags. */
  readonly servers?: readonly string[];
  readonly tags?: readonly string[];
  /** Globs over the names of entries, as clients see them and as their servers call them; URIs for resources. */
  readonly names?: readonly string[];
  readonly kinds?: readonly ('tool' | 'prompt' | 'resource')[];
  readonly tiers?: readonly Tier[];
}

/** Who and what, and what becomes of it. The order of rules means nothing. */
export interface RuleConfig {
  readonly id: string;
  readonly effect: 'allow' | 'deny' | 'ask';
  /** Globs; every one that is given must hold. */
  readonly who: {
    readonly callers?: readonly string[];
    readonly groups?: readonly string[];
    readonly roles?: readonly string[];
    readonly profiles?: readonly string[];
  };
  readonly what: Selection;
  /** For the person or the model that meets it. */
  readonly message?: string;
}

/** A named selection of servers and entries with its exposure. */
export interface ProfileConfig {
  readonly description?: string;
  readonly what: Selection;
  readonly expose?: 'auto' | 'direct' | 'search' | 'code';
}

export interface PolicyConfig {
  /** What happens to an entry that no rule speaks of. */
  readonly default: 'allow' | 'deny';
  readonly rules: readonly RuleConfig[];
  /** Who is asked where a rule says so, and how long a call waits for the answer. */
  readonly ask?: { readonly by: readonly ('person' | 'client')[]; readonly waitMs: number };
}
