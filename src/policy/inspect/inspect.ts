import type { JsonObject } from '../../model/json.ts';
import { decodedIn } from './encoded.ts';
import { finding } from './finding.ts';
import type { Finding, Passage } from './finding.ts';
import { hiddenIn } from './hidden.ts';
import { isAboutCode, judge, subjectOfDefinition } from './judge/judge.ts';
import { passagesOf } from './passages.ts';

const MAX_FINDINGS = 20;
const TYPES: ReadonlySet<string> = new Set('string object number integer boolean array null'.split(' '));

/**
 * What is suspicious about the definition of an entry, without a network and always the same. Findings are for the
 * person who approves; a definition without any may still be malicious.
 */
export function inspect(definition: JsonObject): readonly Finding[] {
  const { passages, isCut } = passagesOf(definition);
  const subject = subjectOfDefinition(definition);
  const found = passages.flatMap((passage) => inPassage(passage, subject));
  if (isCut) found.push({ rule: 'too-long', where: '', excerpt: 'More text than a definition needs.' });
  return distinct(found).slice(0, MAX_FINDINGS);
}

function inPassage(passage: Passage, subject: ReadonlySet<number>): readonly Finding[] {
  // Nothing that could be said to anybody is this short, and what schemas are made of says nothing.
  if (passage.text.length < 3 || TYPES.has(passage.text)) return [];
  const said = judge(passage, subject);
  const decoded = decodedIn(passage.text).flatMap(({ at, text }) => {
    const hidden = judge({ ...passage, text }, subject);
    if (hidden !== undefined) return [finding('encoded', passage, at), hidden];
    // A tool that decodes may show an example; to any other a hidden text does not belong.
    return isAboutCode(subject) ? [] : [finding('encoded', passage, at)];
  });
  return [...hiddenIn(passage), ...(said === undefined ? [] : [said]), ...decoded];
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
