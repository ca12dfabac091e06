// The windows that the inspection judges, with their features by name: the input of the fit.

import type { JsonObject } from '../../src/core/json.ts';
import { findEncodedText } from '../../src/policy/inspection/encoded-text.ts';
import { extractDefinitionTopic } from '../../src/policy/inspection/classifier/classify-passage.ts';
import { buildConceptLexicon } from '../../src/policy/inspection/classifier/lexicon/concept-lexicon.ts';
import { buildAttributeTable } from '../../src/policy/inspection/classifier/attribute-table.ts';
import type { ClassifierModel } from '../../src/policy/inspection/classifier/classifier-model.ts';
import { TermVocabulary, parseWordGroups } from '../../src/policy/inspection/classifier/term-vocabulary.ts';
import { featureName } from '../../src/policy/inspection/classifier/classifier-weights.ts';
import {
  forEachFeature,
  excerptText,
  createWindows,
} from '../../src/policy/inspection/classifier/sentence-windows.ts';
import { WORD_GROUPS } from '../../src/policy/inspection/classifier/word-groups-data.ts';
import { extractPassages } from '../../src/policy/inspection/extract-passages.ts';

const LEXICON = buildConceptLexicon();
const OPEN = new TermVocabulary(true);
/** Reads text as the inspection does, but keeps every word. */
const READER: ClassifierModel = {
  lexicon: LEXICON,
  attributes: buildAttributeTable(LEXICON.concepts),
  vocabulary: OPEN,
  wordGroups: parseWordGroups(WORD_GROUPS, OPEN),
  isWeighted: () => true,
};

interface FeaturesOfWindow {
  readonly where: string;
  readonly text: string;
  readonly isOfTwo: boolean;
  readonly features: readonly number[];
}

export function windowsOfDefinition(definition: JsonObject): readonly FeaturesOfWindow[] {
  const subject = extractDefinitionTopic(definition, READER);
  return extractPassages(definition).passages.flatMap(({ where, ...passage }) =>
    [passage.text, ...findEncodedText(passage.text).map(({ text }) => text)]
      .flatMap((text) => [...createWindows({ ...passage, where, text }, subject, READER)])
      .map((window) => {
        const features: number[] = [];
        forEachFeature(window, (feature) => features.push(feature));
        return { where, text: excerptText(window), isOfTwo: window.second !== undefined, features };
      }),
  );
}

export function nameOfFeature(feature: number): string {
  return featureName(feature, READER.attributes, OPEN);
}
