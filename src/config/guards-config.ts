/** The action of a guard that finds a secret. */
export type SecretAction = 'off' | 'report' | 'mask' | 'block';

export interface RedactConfig {
  readonly arguments: SecretAction;
  readonly results: SecretAction;
  /** Whether random-looking words count as secrets, too. */
  readonly entropy: boolean;
  /** Regular expressions by name. */
  readonly patterns: Readonly<Record<string, string>>;
}

/** Rejects calls whose arguments match the pattern. A condition that is absent always holds. */
export interface ArgumentRule {
  readonly id: string;
  /** Globs over server names. */
  readonly servers?: readonly string[] | undefined;
  /** Globs over the servers' own tool names. */
  readonly tools?: readonly string[] | undefined;
  /** Globs over argument names, with or without their parents: `path`, `options.path`. */
  readonly arguments?: readonly string[] | undefined;
  readonly pattern: string;
  /** Shown to the model whose call is rejected. */
  readonly message?: string | undefined;
}

/** Text that clients see after, or instead of, the server's own description of a tool. */
export type ToolDescriptionOverride = { readonly append: string } | { readonly replace: string };
