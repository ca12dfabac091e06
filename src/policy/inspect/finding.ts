/** What is suspicious about a definition, and where; for a person, never for a model. */
export interface Finding {
  readonly rule: FindingRule;
  /** As `description` or `inputSchema.properties.path.description`. */
  readonly where: string;
  /** What was found, short and with invisible characters made visible. */
  readonly excerpt: string;
}

export type FindingRule =
  | 'hidden-characters'
  | 'hidden-markup'
  | 'instruction'
  | 'secrecy'
  | 'secrets'
  | 'other-tools'
  | 'exfiltration'
  | 'encoded'
  | 'command'
  | 'look-alike'
  | 'too-long';

/** One text of a definition. */
export interface Passage {
  readonly where: string;
  readonly text: string;
  /** The parameter that it describes. */
  readonly about?: string;
}

const EXCERPT_CHARS = 120;

export function finding(
  rule: FindingRule,
  { where, text }: Passage,
  at = 0,
  length = EXCERPT_CHARS,
): Finding {
  const from = Math.max(0, at - 20);
  const cut = text.slice(from, at + Math.min(length, EXCERPT_CHARS) + 20);
  return { rule, where, excerpt: visible(cut) };
}

/** Characters that do not show are written as their code points. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu, (character) =>
    character === '\n' || character === '\t' || character === '\r'
      ? ' '
      : `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}
