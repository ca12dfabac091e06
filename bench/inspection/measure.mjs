// How well the inspection tells attacks from honest definitions. The scanner is a parameter, so a test can measure the same as the bench.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { generateCatalog } from '../data/catalog.mjs';
import { readPublicCatalog, readPublicSet } from '../data/public-data.mjs';
import { definitionsOf } from './definitions.mjs';
import { thirdSet } from './third/examples.mjs';

/** The goal for alarms is about the public catalog, see README.md. */
export const GOALS = { recall: 0.95, publicAlarms: 0.01 };

/** Sets by several authors. The errors in `dev`, `train`, `validation` and `reworded` may be read; `first/held-out` was used up long ago. */
export const PARTS = [
  'first/dev',
  'first/held-out',
  'first/blind',
  'second/dev',
  'second/validation',
  'second/held-out',
  'third/train',
  'third/validation',
  'third/spent',
  'third/test',
  'fourth/train',
  'fourth/reworded',
  'fifth/train',
  'sixth/test',
];

/** Nothing was fitted to these parts and none of their examples was read: only they predict the recall on the next attack. */
const UNSEEN = ['first/blind', 'second/held-out', 'third/test', 'sixth/test'];
/** The part that the goal is about: an author who knew neither the scanner nor the other sets wrote it after public descriptions. */
const FROM_OUTSIDE = 'sixth/test';
const FILES = { attacks: 'attacks', benign: 'honest' };

const read = (file) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));

/** The first set is one file; the hash of an example's id decides its part. */
export function partOfFirst(id) {
  // Written after the patterns of that time were finished, and never read.
  if (id.startsWith('blind-')) return 'blind';
  return createHash('sha256').update(id).digest()[0] % 2 === 0 ? 'dev' : 'held-out';
}

function examplesOf(label, parts) {
  const first = read(`${label}.json`).map((example) => ({
    ...example,
    part: `first/${partOfFirst(example.id)}`,
  }));
  const second = ['dev', 'validation', 'held-out']
    .filter((part) => parts.includes(`second/${part}`))
    .flatMap((part) =>
      read(`second/${label}-${part}.json`).map((example) => ({ ...example, part: `second/${part}` })),
    );
  const third = ['train', 'validation', 'spent', 'test']
    .filter((part) => parts.includes(`third/${part}`) && !(part === 'spent' && label === 'benign'))
    .flatMap((part) =>
      thirdSet(`${FILES[label]}-${part}`).map((example) => ({ ...example, part: `third/${part}` })),
    );
  const whole = ['fourth/train', 'sixth/test'].flatMap((part) =>
    definitionsOf(part.split('/')[0], FILES[label]).map((example) => ({ ...example, part })),
  );
  const reworded = (label === 'benign' ? definitionsOf('fourth', 'honest-reworded') : []).map((example) => ({
    ...example,
    part: 'fourth/reworded',
  }));
  const fifth = thirdSet(`../fifth/${FILES[label]}`).map((example) => ({ ...example, part: 'fifth/train' }));
  return [...first, ...second, ...third, ...whole, ...reworded, ...fifth].filter(({ part }) =>
    parts.includes(part),
  );
}

function toolsOf(catalog) {
  return catalog.flatMap(({ name, tools }) => tools.map((definition) => ({ upstream: name, definition })));
}

/**
 * The findings of every labelled example in `parts`, of every tool of the generated catalog and, where they are at hand, of
 * the public catalog and of a public set that the weights were not fitted to (`publicTools` and `otherTools` are empty otherwise).
 */
export function measureInspection({ inspect, inspectBesideOthers }, parts = PARTS) {
  const findingsOf = ({ kind, definition, server = 'server', neighbours = [] }) => {
    const own = { upstream: server, definition };
    const others = neighbours.map(({ server: upstream, ...rest }) => ({ upstream, definition: rest }));
    return [...inspect(definition), ...(kind === 'tool' ? inspectBesideOthers([own, ...others])(own) : [])];
  };
  const judged = (label) =>
    examplesOf(label, parts).map((example) => ({ ...example, findings: findingsOf(example) }));
  const besideEachOther = (tools) => {
    const beside = inspectBesideOthers(tools);
    return tools.map((tool) => ({ ...tool, alone: inspect(tool.definition), together: beside(tool) }));
  };
  return {
    attacks: judged('attacks'),
    benign: judged('benign'),
    generatedTools: besideEachOther(toolsOf(generateCatalog())),
    publicTools: besideEachOther(toolsOf(readPublicCatalog() ?? [])),
    otherTools: (readPublicSet('bfcl')?.tools ?? []).map(({ name, description, inputSchema }) => ({
      alone: inspect({ name, description, inputSchema }),
    })),
  };
}

function familyOf({ type, lang = 'en' }) {
  return lang === 'en' ? type : `in ${lang}`;
}

/** The 95 % confidence interval of a share, after Wilson. */
export function intervalOf(found, count) {
  if (count === 0) return [0, 1];
  const z = 1.96;
  const share = found / count;
  const middle = (share + z ** 2 / (2 * count)) / (1 + z ** 2 / count);
  const reach =
    (z / (1 + z ** 2 / count)) * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}

/** The shares that the goals are about. */
export function summariseInspection({ attacks, benign, generatedTools, publicTools, otherTools }) {
  const share = (of, hit) => (of.length === 0 ? 0 : of.filter(hit).length / of.length);
  const isFound = ({ findings }) => findings.length > 0;
  const counted = (of) => ({
    count: of.length,
    found: of.filter(isFound).length,
    share: share(of, isFound),
  });
  const byPart = (of) =>
    Object.fromEntries(PARTS.map((part) => [part, counted(of.filter((example) => example.part === part))]));
  const byFamily = (of) => {
    const names = [...new Set(of.map(familyOf))].toSorted((one, other) => one.localeCompare(other));
    return Object.fromEntries(
      names.map((name) => [name, counted(of.filter((example) => familyOf(example) === name))]),
    );
  };
  const isUnseen = ({ part }) => UNSEEN.includes(part);
  const isForeign = (example) => isUnseen(example) && (example.lang ?? 'en') !== 'en';
  const isAlone = ({ alone }) => alone.length > 0;
  const isAlarm = ({ alone, together }) => alone.length + together.length > 0;
  return {
    recall: share(
      attacks.filter(({ part }) => part === FROM_OUTSIDE),
      isFound,
    ),
    recallUnseen: share(attacks.filter(isUnseen), isFound),
    recallAll: share(attacks, isFound),
    recallForeign: share(attacks.filter(isForeign), isFound),
    recallByPart: byPart(attacks),
    recallByFamily: byFamily(attacks.filter(({ part }) => part === FROM_OUTSIDE)),
    hardAlarms: share(benign.filter(isUnseen), isFound),
    hardAlarmsAll: share(benign, isFound),
    hardAlarmsForeign: share(benign.filter(isForeign), isFound),
    hardAlarmsByPart: byPart(benign),
    generatedAlarms: share(generatedTools, isAlone),
    generatedAlarmsBesideAll: share(generatedTools, isAlarm),
    generatedSentences: sentencesFound(generatedTools),
    publicAlarms: share(publicTools, isAlone),
    publicAlarmsBesideAll: share(publicTools, isAlarm),
    otherAlarms: share(otherTools, isAlone),
    attacks: attacks.length,
    attacksOutside: attacks.filter(({ part }) => part === FROM_OUTSIDE).length,
    attacksUnseen: attacks.filter(isUnseen).length,
    benign: benign.length,
    benignUnseen: benign.filter(isUnseen).length,
    attacksForeign: attacks.filter(isForeign).length,
    benignForeign: benign.filter(isForeign).length,
    generatedTools: generatedTools.length,
    publicTools: publicTools.length,
    otherTools: otherTools.length,
  };
}

/** Generated tools share sentences, and one finding can hold many tools; the number of different sentences says more than the share of tools. */
function sentencesFound(tools) {
  return new Set(tools.flatMap(({ alone }) => alone.map(({ excerpt }) => excerpt))).size;
}
