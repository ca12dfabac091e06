import type { JsonObject } from '../../../model/json.ts';
import { finding } from '../finding.ts';
import type { Finding, FindingRule, Passage } from '../finding.ts';
import { sentencesOf } from '../sentences.ts';
import { readLexicon } from './lexicon.ts';
import { numberMarks } from './marks.ts';
import { marksOf, readWeights } from './weights.ts';
import { WEIGHTS } from './weights-data.ts';
import { eachFeature, shownOf, subjectOf, windowsOf } from './windows.ts';
import type { Reader, Window } from './windows.ts';

const LEXICON = readLexicon();
export const READER: Reader = { lexicon: LEXICON, marks: numberMarks(LEXICON.concepts) };
const { bias, weightOf } = readWeights(WEIGHTS, READER.marks);

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
export function subjectOfDefinition({ name, title, description }: JsonObject): ReadonlySet<number> {
  const first = typeof description === 'string' ? (sentencesOf(description)[0] ?? '') : '';
  return subjectOf(
    [name, title, first].filter((text) => typeof text === 'string'),
    READER,
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
  for (const window of windowsIn(passage, subject)) {
    let score = bias;
    eachFeature(window, (feature) => {
      score += weightOf(feature);
    });
    if (score > most) {
      most = score;
      loudest = window;
    }
  }
  if (loudest === undefined) return undefined;
  return finding(ruleOf(loudest), { where: passage.where, text: shownOf(loudest) });
}

/** For fitting the weights: the same windows that are judged. */
export function windowsIn(passage: Passage, subject: ReadonlySet<number>): readonly Window[] {
  return windowsOf(passage, subject, READER);
}

/** What most of the weight is about. */
function ruleOf(window: Window): FindingRule {
  const sums = new Map<FindingRule, number>();
  eachFeature(window, (feature) => {
    const weight = weightOf(feature);
    if (weight <= 0) return;
    for (const mark of marksOf(feature, READER.marks)) {
      const rule = RULES.get(mark.replace(/^(?:!|p:)/, ''));
      if (rule !== undefined) sums.set(rule, (sums.get(rule) ?? 0) + weight);
    }
  });
  const [best] = [...sums].toSorted(([, one], [, other]) => other - one);
  return best?.[0] ?? 'instruction';
}
