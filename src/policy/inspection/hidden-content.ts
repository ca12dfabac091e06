import { createFinding } from './inspection-finding.ts';
import type { InspectionFinding, InspectionRule, Passage } from './inspection-finding.ts';

/** Characters that no honest description contains: tags, bidirectional overrides, and characters without a glyph. */
const FORBIDDEN =
  /[\u{E0000}-\u{E0FFF}\u202A-\u202E\u2061-\u206F\u115F-\u1160\u3164\uFFA0\uFFF9-\uFFFB\p{Co}]/u;
/**
 * Matches invisible characters between Latin letters. Honest texts contain them only between letters of other scripts and in emoji. One at
 * the start is not matched, because it is a stray byte order mark.
 */
const INVISIBLE_IN_LATIN = /[A-Za-z0-9.,:;!?)\]}'"]\p{Default_Ignorable_Code_Point}+[A-Za-z0-9 ([{'"]/u;
const MANY_ZERO_WIDTH = /\p{Default_Ignorable_Code_Point}{3,}/u;
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F]/;
const MARKUP = [
  /<\/?(?:important|system|secret|hidden|admin|override|prompt|tool_(?:call|result|response|use)|function_(?:call|results?)|antml|assistant|thinking|internal)\b[^>]{0,80}>/i,
  /\[\/?(?:inst|system|sys|hidden|admin)\]/i,
  /<\|[a-z_]{2,30}\|>\s{0,4}(?:system|developer|user|assistant|you|<\||\n)|<\|(?:system|user|assistant|developer)\|>|<<\s?sys\s?>>/i,
  /(?:^|\n)[ \t]{0,8}(?:#{1,4} {0,4})?(?:system|assistant|human|developer) {0,2}(?:prompt|message|note)? {0,2}:\s{0,8}\S/i,
  /style\s{0,4}=\s{0,4}["'][^"']{0,80}(?:display\s{0,4}:\s{0,4}none|font-size\s{0,4}:\s{0,4}0|color\s{0,4}:\s{0,4}(?:white|transparent))/i,
];

/** Finds content that a model reads but a person does not see. */
export function findHiddenContent(passage: Passage): readonly InspectionFinding[] {
  const { text } = passage;
  const found: InspectionFinding[] = [];
  for (const pattern of [FORBIDDEN, INVISIBLE_IN_LATIN, MANY_ZERO_WIDTH, CONTROL]) {
    const match = pattern.exec(text);
    if (match !== null) found.push(createFinding('hidden-characters', passage, match.index, match[0].length));
  }
  for (const match of [findGap(text), findComment(text)]) {
    if (match !== undefined) found.push(createFinding(match.rule, passage, match.index));
  }
  for (const pattern of MARKUP) {
    const match = pattern.exec(text);
    if (match !== null) found.push(createFinding('hidden-markup', passage, match.index, match[0].length));
  }
  return found;
}

interface HiddenMatch {
  readonly rule: InspectionRule;
  readonly index: number;
}

/** Finds text after 80 blanks or 25 line breaks, which push it out of view. It uses a loop, because a regular expression is slow here. */
function findGap(text: string): HiddenMatch | undefined {
  let blanks = 0;
  let lines = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 10) {
      lines++;
      blanks = 0;
    } else if (code === 32 || code === 9 || code === 0xa0 || code === 0x30_00) blanks++;
    else if (code !== 13) {
      if (blanks >= 80 || lines >= 25) return { rule: 'hidden-characters', index };
      blanks = 0;
      lines = 0;
    }
  }
  return undefined;
}

/** Finds an HTML comment that is long enough for a message. A very short one is an example of the syntax. */
function findComment(text: string): HiddenMatch | undefined {
  for (let index = text.indexOf('<!--'); index >= 0; index = text.indexOf('<!--', index + 4)) {
    const end = text.indexOf('-->', index + 4);
    if (end < 0) return undefined;
    if (end - index > 16) return { rule: 'hidden-markup', index };
  }
  return undefined;
}
