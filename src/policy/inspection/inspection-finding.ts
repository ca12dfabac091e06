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

/** One text of a definition. */
export interface Passage {
  readonly where: string;
  readonly text: string;
  /** The name of the parameter that the text belongs to; undefined outside of parameters. */
  readonly parameter?: string | undefined;
}

const EXCERPT_CHARS = 120;

/** Creates a finding whose excerpt also contains 20 characters before and after the suspicious text at `at`. */
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
