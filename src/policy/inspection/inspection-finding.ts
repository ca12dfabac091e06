/** Something suspicious in a definition. Findings are shown to people, never to a model. */
export interface InspectionFinding {
  readonly rule: InspectionRule;
  /** Path in the definition, such as `description` or `inputSchema.properties.path.description`. */
  readonly where: string;
  /** The suspicious text, shortened and with invisible characters escaped. */
  readonly excerpt: string;
}

export type InspectionRule =
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

/** One text in a definition, such as the description of a tool or of a parameter. */
export interface Passage {
  readonly where: string;
  readonly text: string;
  /** The name of the parameter that the text belongs to, or undefined if it belongs to none. */
  readonly parameter?: string | undefined;
}

const EXCERPT_CHARS = 120;

/** Creates a finding. Its excerpt is the suspicious text at offset `at`, with 20 characters of context before and after it. */
export function createFinding(
  rule: InspectionRule,
  { where, text }: Passage,
  at = 0,
  length = EXCERPT_CHARS,
): InspectionFinding {
  const from = Math.max(0, at - 20);
  const excerpt = text.slice(from, at + Math.min(length, EXCERPT_CHARS) + 20);
  return { rule, where, excerpt: escapeInvisible(excerpt) };
}

/** Replaces invisible characters by their code points. */
function escapeInvisible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu, (character) =>
    character === '\n' || character === '\t' || character === '\r'
      ? ' '
      : `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}
