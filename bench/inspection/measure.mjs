// How well the inspection tells attacks from honest definitions. What it measures is given to it, so that a test can do the same.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';

import { definitionsOf } from './definitions.mjs';
import { thirdSet } from './third/examples.mjs';

export const GOALS = { recall: 0.95, realAlarms: 0.01 };

/** Sets by several hands; what may be looked at is in `dev`, `train` and `validation`, and what was spent long ago in `held-out` of the first. */
export const PARTS = [
  ...['first/dev', 'first/held-out', 'first/blind'],
  ...['second/dev', 'second/validation', 'second/held-out'],
  ...['third/train', 'third/validation', 'third/spent', 'third/test'],
  ...['fourth/train', 'fifth/train', 'sixth/test'],
];

/** Nothing was fitted to these and nothing of them was looked at: only they say what is found of the next attack. */
const UNSEEN = ['first/blind', 'second/held-out', 'third/test', 'sixth/test'];
/** What the goal is about: written after public descriptions by a hand that knew neither the scanner nor the other sets. */
const FROM_OUTSIDE = 'sixth/test';
const FILES = { attacks: 'attacks', benign: 'honest' };

const read = (file) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));

/** The first set is one file; the hash of the id says which part an example belongs to. */
export function partOfFirst(id) {
  // Written after the patterns of that time were finished, and never looked at.
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
  const fifth = thirdSet(`../fifth/${FILES[label]}`).map((example) => ({ ...example, part: 'fifth/train' }));
  return [...first, ...second, ...third, ...whole, ...fifth].filter(({ part }) => parts.includes(part));
}

/** The real definitions of bench/catalog, one upstream per file. */
function realTools() {
  const folder = new URL('../catalog/', import.meta.url);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => {
      const { tools } = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
      return tools.map((definition) => ({ upstream: file.slice(0, -5), definition }));
    });
}

/** What a person would be shown of each example; `parts` leaves examples out that are not to be seen. */
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
  const real = besideEachOther(realTools());
  const unseen = read('unseen-tools.json').map(({ server, ...definition }) => ({
    upstream: server,
    definition,
  }));
  return { attacks: judged('attacks'), benign: judged('benign'), real, unseen: besideEachOther(unseen) };
}

function familyOf({ type, lang = 'en' }) {
  return lang === 'en' ? type : `in ${lang}`;
}

/** Where the true share lies with 95 % certainty, after Wilson. */
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
export function summariseInspection({ attacks, benign, real, unseen }) {
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
    realAlarms: share(real, isAlone),
    realAlarmsBesideAll: share(real, isAlarm),
    unseenAlarms: share(unseen, isAlone),
    unseenAlarmsBesideAll: share(unseen, isAlarm),
    attacks: attacks.length,
    attacksOutside: attacks.filter(({ part }) => part === FROM_OUTSIDE).length,
    attacksUnseen: attacks.filter(isUnseen).length,
    benign: benign.length,
    benignUnseen: benign.filter(isUnseen).length,
    attacksForeign: attacks.filter(isForeign).length,
    benignForeign: benign.filter(isForeign).length,
    real: real.length,
    unseen: unseen.length,
  };
}
