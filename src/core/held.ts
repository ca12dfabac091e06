/** Why an entry is held for approval. */
export type HeldReason = 'new' | 'changed' | 'suspicious' | 'refused';

/** Texts in which a server describes itself to models: its instructions and the texts of its `serverInfo`. */
export interface ServerTexts {
  readonly instructions?: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  /** Further members of `serverInfo`, because a client may show them as well. */
  readonly [member: string]: unknown;
}

/** The entries of a listing that are held; all others may be shown. */
export interface HoldAssessment {
  /** Fingerprint of the settings and the lockfile that this result depends on. If it changes, the result must be computed again. */
  readonly basis: string;
  /**
   * Held tools by the names that their upstream uses. These are pairs and not an object, because a name may be any text, such as
   * `__proto__`.
   */
  readonly tools: readonly (readonly [string, HeldReason])[];
  readonly prompts: readonly (readonly [string, HeldReason])[];
  /** Present if the server's texts about itself are held; `approved` is shown instead. */
  readonly words?: { readonly reason: HeldReason; readonly approved: ServerTexts } | undefined;
}
