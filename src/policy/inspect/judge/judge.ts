import type { JsonObject } from '../../../model/json.ts';
import { finding } from '../finding.ts';
import type { Finding, FindingRule, Passage } from '../finding.ts';
import { sentencesOf } from '../sentences.ts';
import { readLexicon } from './lexicon/lexicon.ts';
import { numberMarks } from './marks.ts';
import type { Reader } from './reader.ts';
import { marksOf, readWeights } from './weights.ts';
import { WEIGHTS } from './weights-data.ts';
import { eachFeature, shownOf, subjectOf, windowsOf } from './windows.ts';
import type { Window } from './windows.ts';
import { readWordGroups } from './word-groups.ts';
import { WORD_GROUPS } from './word-groups-data.ts';

const LEXICON = readLexicon();
const MARKS = numberMarks(LEXICON.concepts);
const { bias, of: WEIGHT_OF, vocabulary } = readWeights(WEIGHTS, MARKS);
const READER: Reader = {
  lexicon: LEXICON,
  marks: MARKS,
  vocabulary,
  groups: readWordGroups(WORD_GROUPS, vocabulary),
  counts: (feature) => WEIGHT_OF[feature] !== 0,
};

/** What a person is told when these speak the loudest. */
const REASONS: readonly (readonly [FindingRule, readonly string[]])[] = [
  ['secrets', ['secret', '#private', 'environment', 'files', '#home', 'read']],
  [
    'exfiltration',
    [
      ...[
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
      ],
      ...['content', 'whole', 'change'],
    ],
  ],
  ['secrecy', ['hide', 'tell', 'ask', 'not', 'pretend']],
  ['other-tools', ['others', 'prefer', 'bad', 'instead', '#call']],
  ['command', ['shell', '#code', 'run', 'delete', '#address']],
  [
    'instruction',
    [
      ...[
        'instructions',
        'ignore',
        'obey',
        'model',
        'priority',
        'authority',
        'earlier',
        'memory',
        'security',
      ],
      ...['#speaker', '#tag'],
    ],
  ],
];
const RULES: ReadonlyMap<string, FindingRule> = new Map(
  REASONS.flatMap(([rule, names]) => names.map((name) => [name, rule] as const)),
);

/** The subject of a definition: what is said about it elsewhere in the definition surprises nobody. */
export function subjectOfDefinition(
  { name, title, description }: JsonObject,
  reader: Reader = READER,
): ReadonlySet<number> {
  const first = typeof description === 'string' ? (sentencesOf(description)[0] ?? '') : '';
  return subjectOf(
    [name, title, first].filter((text) => typeof text === 'string'),
    reader,
  );
}

/** Whether a definition with this subject is about encodings, so that an encoded example is to be expected. */
export function isAboutCode(subject: ReadonlySet<number>): boolean {
  return subject.has(READER.marks.idOf('code'));
}

/** The sentence of a passage that speaks loudest to a model, if one is loud enough. */
export function judge(passage: Passage, subject: ReadonlySet<number>): Finding | undefined {
  let loudest: Window | undefined;
  let most = 0;
  for (const window of windowsOf(passage, subject, READER)) {
    let score = bias;
    eachFeature(window, (feature) => {
      score += WEIGHT_OF[feature] ?? 0;
    });
    if (score > most) {
      most = score;
      loudest = window;
    }
  }
  if (loudest === undefined) return undefined;
  return finding(ruleOf(loudest), { where: passage.where, text: shownOf(loudest) });
}

/** What most of the weight is about. */
function ruleOf(window: Window): FindingRule {
  const sums = new Map<FindingRule, number>();
  eachFeature(window, (feature) => {
    const weight = WEIGHT_OF[feature] ?? 0;
    if (weight <= 0) return;
    for (const mark of marksOf(feature, READER.marks)) {
      const rule = RULES.get(mark.replace(/^(?:!|p:)/, ''));
      if (rule !== undefined) sums.set(rule, (sums.get(rule) ?? 0) + weight);
    }
  });
  const [best] = [...sums].toSorted(([, one], [, other]) => other - one);
  return best?.[0] ?? 'instruction';
}
