import { finding } from './finding.ts';
import type { Finding, FindingRule, Passage } from './finding.ts';

/** Never in an honest description: tags, bidirectional overrides, and characters that only exist to not be seen. */
const NEVER = /[\u{E0000}-\u{E0FFF}\u202A-\u202E\u2061-\u206F\u115F-\u1160\u3164\uFFA0\uFFF9-\uFFFB\p{Co}]/u;
/** In honest texts between letters of some scripts and in emoji; a single one at the start is a stray byte order mark. */
const BETWEEN_LATIN = /[A-Za-z0-9.,:;!?)\]}'"]\p{Default_Ignorable_Code_Point}+[A-Za-z0-9 ([{'"]/u;
const MANY_ZERO_WIDTH = /\p{Default_Ignorable_Code_Point}{3,}/u;
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F]/;
const MARKUP = [
  /<\/?(?:important|system|secret|hidden|admin|override|prompt|tool_(?:call|result|response|use)|function_(?:call|results?)|antml|assistant|thinking|internal)\b[^>]{0,80}>/i,
  /\[\/?(?:inst|system|sys|hidden|admin)\]/i,
  /<\|[a-z_]{2,30}\|>\s{0,4}(?:system|developer|user|assistant|you|<\||\n)|<\|(?:system|user|assistant|developer)\|>|<<\s?sys\s?>>/i,
  /(?:^|\n)[ \t]{0,8}(?:#{1,4} {0,4})?(?:system|assistant|human|developer) {0,2}(?:prompt|message|note)? {0,2}:\s{0,8}\S/i,
  /style\s{0,4}=\s{0,4}["'][^"']{0,80}(?:display\s{0,4}:\s{0,4}none|font-size\s{0,4}:\s{0,4}0|color\s{0,4}:\s{0,4}(?:white|transparent))/i,
];

/** What a person does not see and a model reads. */
export function hiddenIn(passage: Passage): readonly Finding[] {
  const { text } = passage;
  const found: Finding[] = [];
  for (const pattern of [NEVER, BETWEEN_LATIN, MANY_ZERO_WIDTH, CONTROL]) {
    const match = pattern.exec(text);
    if (match !== null) found.push(finding('hidden-characters', passage, match.index, match[0].length));
  }
  for (const at of [gapIn(text), commentIn(text)]) {
    if (at !== undefined) found.push(finding(at.rule, passage, at.index));
  }
  for (const pattern of MARKUP) {
    const match = pattern.exec(text);
    if (match !== null) found.push(finding('hidden-markup', passage, match.index, match[0].length));
  }
  return found;
}

interface Place {
  readonly rule: FindingRule;
  readonly index: number;
}

/** Room to push a text out of sight: very many blanks or line breaks with something after them. Patterns would be slow here. */
function gapIn(text: string): Place | undefined {
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

/** A comment with room for a sentence; `<!-- like this -->` is an example. */
function commentIn(text: string): Place | undefined {
  for (let index = text.indexOf('<!--'); index >= 0; index = text.indexOf('<!--', index + 4)) {
    const end = text.indexOf('-->', index + 4);
    if (end < 0) return undefined;
    if (end - index > 16) return { rule: 'hidden-markup', index };
  }
  return undefined;
}
