import type { JsonObject } from '../../model/json.ts';
import { meetingsIn } from './cues.ts';
import { decodedIn } from './encoded.ts';
import { finding } from './finding.ts';
import type { Finding, Passage } from './finding.ts';
import { hiddenIn } from './hidden.ts';
import { inOtherLanguage } from './languages.ts';
import { passagesOf } from './passages.ts';
import { PHRASES } from './phrases.ts';
import { plainText, plainWords } from './plain-words.ts';
import { sentencesOf, wordsOfName } from './sentences.ts';

const MAX_FINDINGS = 20;

/**
 * What is suspicious about the definition of an entry, without a network and always the same. Findings are for the
 * person who approves; a definition without any may still be malicious.
 */
export function inspect(definition: JsonObject): readonly Finding[] {
  const { passages, isCut } = passagesOf(definition);
  const found = passages.flatMap(inPassage);
  if (isCut) found.push({ rule: 'too-long', where: '', excerpt: 'More text than a definition needs.' });
  return distinct(found).slice(0, MAX_FINDINGS);
}

function inPassage(passage: Passage): readonly Finding[] {
  const { text, where } = passage;
  // Nothing that could be said to anybody is this short.
  if (text.length < 3) return [];
  const decoded = decodedIn(text).map((hidden) => ({
    ...hidden,
    finding: finding('encoded', passage, hidden.at),
  }));
  return [
    ...hiddenIn(passage),
    ...said(passage),
    ...decoded.flatMap((hidden) => [hidden.finding, ...said({ where, text: hidden.text })]),
  ];
}

function said(passage: Passage): readonly Finding[] {
  const words = wordsOfName(passage.text);
  return words === undefined ? saidIn(passage) : [...saidIn(passage), ...saidIn({ ...passage, text: words })];
}

function saidIn({ where, text }: Passage): readonly Finding[] {
  const plain = plainWords(text);
  if (plain.length < 5) return [];
  const phrases = PHRASES.flatMap(({ rule, pattern }) => {
    const match = pattern.exec(plain);
    return match === null ? [] : [finding(rule, { where, text: plain }, match.index, match[0].length)];
  });
  const met = sentencesOf(plainText(text)).flatMap((sentence) => {
    const other = inOtherLanguage(sentence);
    const rules = other === undefined ? meetingsIn(sentence) : [...meetingsIn(sentence), other];
    return rules.map((rule) => finding(rule, { where, text: sentence }));
  });
  return [...phrases, ...met];
}

function distinct(found: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return found.filter(({ rule, where }) => {
    const key = `${rule} ${where}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
