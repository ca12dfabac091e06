/** What becomes of a secret that a guard meets. */
export type SecretAction = 'off' | 'report' | 'mask' | 'block';

export interface RedactConfig {
  readonly arguments: SecretAction;
  readonly results: SecretAction;
  /** Whether random-looking words count as well. */
  readonly entropy: boolean;
  /** Names and regular expressions. */
  readonly patterns: Readonly<Record<string, string>>;
}

/** Arguments that are not sent. What is not given does not count. */
export interface ArgumentRule {
  readonly id: string;
  /** Globs over names of servers and over the servers' own names of tools. */
  readonly servers?: readonly string[];
  readonly tools?: readonly string[];
  /** Globs over names of arguments, alone or with those they are in: `path`, `options.path`. */
  readonly arguments?: readonly string[];
  readonly pattern: string;
  /** For the model. */
  readonly message?: string;
}

/** What clients read about a tool instead of, or after, the server's own description. */
export type Description = { readonly append: string } | { readonly replace: string };
