// What the weights are fitted to: the windows that the inspection judges, and how their features are called.

import type { JsonObject } from '../../src/model/json.ts';
import { decodedIn } from '../../src/policy/inspect/encoded.ts';
import { subjectOfDefinition } from '../../src/policy/inspect/judge/judge.ts';
import { readLexicon } from '../../src/policy/inspect/judge/lexicon/lexicon.ts';
import { numberMarks } from '../../src/policy/inspect/judge/marks.ts';
import type { Reader } from '../../src/policy/inspect/judge/reader.ts';
import { Vocabulary } from '../../src/policy/inspect/judge/vocabulary.ts';
import { nameOf } from '../../src/policy/inspect/judge/weights.ts';
import { eachFeature, shownOf, windowsOf } from '../../src/policy/inspect/judge/windows.ts';
import { WORD_GROUPS } from '../../src/policy/inspect/judge/word-groups-data.ts';
import { readWordGroups } from '../../src/policy/inspect/judge/word-groups.ts';
import { passagesOf } from '../../src/policy/inspect/passages.ts';

const LEXICON = readLexicon();
const OPEN = new Vocabulary(true);
/** Reads as the inspection does, and notes every word. */
const READER: Reader = {
  lexicon: LEXICON,
  marks: numberMarks(LEXICON.concepts),
  vocabulary: OPEN,
  groups: readWordGroups(WORD_GROUPS, OPEN),
  counts: () => true,
};

interface FeaturesOfWindow {
  readonly where: string;
  readonly text: string;
  readonly isOfTwo: boolean;
  readonly features: readonly number[];
}

export function windowsOfDefinition(definition: JsonObject): readonly FeaturesOfWindow[] {
  const subject = subjectOfDefinition(definition, READER);
  return passagesOf(definition).passages.flatMap(({ where, ...passage }) =>
    [passage.text, ...decodedIn(passage.text).map(({ text }) => text)]
      .flatMap((text) => windowsOf({ ...passage, where, text }, subject, READER))
      .map((window) => {
        const features: number[] = [];
        eachFeature(window, (feature) => features.push(feature));
        return { where, text: shownOf(window), isOfTwo: window.next !== undefined, features };
      }),
  );
}

export function nameOfFeature(feature: number): string {
  return nameOf(feature, READER.marks, OPEN);
}
