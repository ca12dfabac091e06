import type { JsonObject } from '../../../core/json.ts';
import { createFinding } from '../inspection-finding.ts';
import type { InspectionFinding, InspectionRule, Passage } from '../inspection-finding.ts';
import { splitSentences } from '../split-sentences.ts';
import { buildAttributeTable } from './attribute-table.ts';
import type { ClassifierModel } from './classifier-model.ts';
import { CLASSIFIER_WEIGHTS } from './classifier-weights-data.ts';
import { attributesOfFeature, parseWeights } from './classifier-weights.ts';
import { buildConceptLexicon } from './lexicon/concept-lexicon.ts';
import { createWindows, excerptText, extractTopic, forEachFeature } from './sentence-windows.ts';
import type { SentenceWindow } from './sentence-windows.ts';
import { parseWordGroups } from './term-vocabulary.ts';
import { WORD_GROUPS } from './word-groups-data.ts';

const LEXICON = buildConceptLexicon();
const ATTRIBUTES = buildAttributeTable(LEXICON.concepts);
const {
  bias: BIAS,
  byFeature: WEIGHTS,
  vocabulary: VOCABULARY,
} = parseWeights(CLASSIFIER_WEIGHTS, ATTRIBUTES);
const MODEL: ClassifierModel = {
  lexicon: LEXICON,
  attributes: ATTRIBUTES,
  vocabulary: VOCABULARY,
  wordGroups: parseWordGroups(WORD_GROUPS, VOCABULARY),
  isWeighted: (feature) => WEIGHTS[feature] !== 0,
};

/**
 * Returns the topic of a definition: the attributes of its name, title and first sentence. These are expected everywhere in the
 * definition, so they do not count as off-topic. The benchmark that fits the weights passes its own `model`.
 */
export function extractDefinitionTopic(
  { name, title, description }: JsonObject,
  model: ClassifierModel = MODEL,
): ReadonlySet<number> {
  const firstSentence = typeof description === 'string' ? (splitSentences(description)[0] ?? '') : '';
  return extractTopic(
    [name, title, firstSentence].filter((text) => typeof text === 'string'),
    model,
  );
}

/** Whether a definition is about encodings, so that it may contain an encoded example. */
export function isEncodingTopic(topic: ReadonlySet<number>): boolean {
  return topic.has(MODEL.attributes.idOf('code'));
}

/** Returns a finding for the most suspicious window of a passage, if any scores above zero. It yields after each window. */
export function* classifyPassage(
  passage: Passage,
  topic: ReadonlySet<number>,
): Generator<undefined, InspectionFinding | undefined> {
  let worst: SentenceWindow | undefined;
  let highestScore = 0;
  for (const window of createWindows(passage, topic, MODEL)) {
    let score = BIAS;
    forEachFeature(window, (feature) => {
      score += WEIGHTS[feature] ?? 0;
    });
    if (score > highestScore) {
      highestScore = score;
      worst = window;
    }
    yield;
  }
  if (worst === undefined) return undefined;
  return createFinding(ruleOf(worst), { where: passage.where, text: excerptText(worst) });
}

/** The attributes of each rule. The rule whose attributes contribute the most weight is reported. */
const ATTRIBUTES_BY_RULE: Readonly<Partial<Record<InspectionRule, readonly string[]>>> = {
  secrets: ['secret', '#private', 'environment', 'files', '#home', 'read'],
  exfiltration: [
    'talk',
    'prompt',
    'personal',
    'send',
    'outside',
    '#url',
    '#mail',
    '#fill',
    '#image',
    'money',
    '#account',
    'content',
    'whole',
    'change',
  ],
  secrecy: ['hide', 'tell', 'ask', 'not', 'pretend'],
  'other-tools': ['others', 'prefer', 'bad', 'instead', '#call'],
  command: ['shell', '#code', 'run', 'delete', '#address'],
  instruction: [
    'instructions',
    'ignore',
    'obey',
    'model',
    'priority',
    'authority',
    'earlier',
    'memory',
    'security',
    '#speaker',
    '#tag',
  ],
};
const RULES_BY_ATTRIBUTE: ReadonlyMap<string, InspectionRule> = new Map(
  Object.entries(ATTRIBUTES_BY_RULE).flatMap(([rule, names]) =>
    names.map((name) => [name, rule as InspectionRule] as const),
  ),
);

/** Returns the rule whose attributes contribute the most weight. */
function ruleOf(window: SentenceWindow): InspectionRule {
  const weightByRule = new Map<InspectionRule, number>();
  forEachFeature(window, (feature) => {
    const weight = WEIGHTS[feature] ?? 0;
    if (weight <= 0) return;
    for (const attribute of attributesOfFeature(feature, MODEL.attributes)) {
      const rule = RULES_BY_ATTRIBUTE.get(attribute.replace(/^(?:!|p:)/, ''));
      if (rule !== undefined) weightByRule.set(rule, (weightByRule.get(rule) ?? 0) + weight);
    }
  });
  const [heaviest] = [...weightByRule].toSorted(([, one], [, other]) => other - one);
  return heaviest?.[0] ?? 'instruction';
}
