import type { JsonObject } from '../../core/json.ts';
import { completeAtOnce } from '../../core/lib/complete-in-slices.ts';
import { classifyPassage, extractDefinitionTopic, isEncodingTopic } from './classifier/classify-passage.ts';
import { findEncodedText } from './encoded-text.ts';
import { extractPassages } from './extract-passages.ts';
import { findHiddenContent } from './hidden-content.ts';
import { createFinding } from './inspection-finding.ts';
import type { InspectionFinding, Passage } from './inspection-finding.ts';

const MAX_FINDINGS = 20;
const SCHEMA_TYPES: ReadonlySet<string> = new Set(
  'string object number integer boolean array null'.split(' '),
);

/**
 * Returns the suspicious parts of a definition. The result is deterministic and needs no network access. Findings help the person who
 * approves the entry. A definition without findings may still be malicious.
 */
export function inspectDefinition(definition: JsonObject): readonly InspectionFinding[] {
  return completeAtOnce(inspectSteps(definition));
}

/** Does the same in steps, because the inspection of a long definition takes up to 100 ms. */
export function* inspectSteps(definition: JsonObject): Generator<undefined, readonly InspectionFinding[]> {
  const { passages, isTruncated } = extractPassages(definition);
  const topic = extractDefinitionTopic(definition);
  const findings: InspectionFinding[] = [];
  for (const passage of passages) findings.push(...(yield* inspectPassage(passage, topic)));
  if (isTruncated)
    findings.push({ rule: 'too-long', where: '', excerpt: 'More text than a definition needs.' });
  return removeDuplicates(findings).slice(0, MAX_FINDINGS);
}

function* inspectPassage(
  passage: Passage,
  topic: ReadonlySet<number>,
): Generator<undefined, readonly InspectionFinding[]> {
  // A text of two characters is too short for an instruction, and the names of schema types are harmless.
  if (passage.text.length < 3 || SCHEMA_TYPES.has(passage.text)) return [];
  const finding = yield* classifyPassage(passage, topic);
  const findings = [...findHiddenContent(passage), ...(finding === undefined ? [] : [finding])];
  yield;
  for (const { at, text } of findEncodedText(passage.text)) {
    const decodedFinding = yield* classifyPassage({ ...passage, text }, topic);
    if (decodedFinding !== undefined) findings.push(createFinding('encoded', passage, at), decodedFinding);
    // A tool about encodings may contain an example; encoded text in any other definition is suspicious.
    else if (!isEncodingTopic(topic)) findings.push(createFinding('encoded', passage, at));
  }
  return findings;
}

/** Keeps the first finding of each rule and place. */
function removeDuplicates(findings: readonly InspectionFinding[]): InspectionFinding[] {
  const keys = new Set<string>();
  return findings.filter(({ rule, where }) => {
    const key = `${rule} ${where}`;
    if (keys.has(key)) return false;
    keys.add(key);
    return true;
  });
}
