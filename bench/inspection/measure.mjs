// How well the inspection tells attacks from honest definitions. What it measures is given to it, so that a test can do the same.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';

export const GOALS = { recall: 0.95, realAlarms: 0.01 };

const read = (file) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));

/** Patterns were made with the first half in sight; the second only says how well they carry over. */
function halfOf(id) {
  // Written after the patterns were finished, and never looked at for them.
  if (id.startsWith('blind-')) return 'blind';
  return createHash('sha256').update(id).digest()[0] % 2 === 0 ? 'dev' : 'held-out';
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

/** What a person would be shown of each example; `halves` leaves examples out that are not to be seen. */
export function measureInspection({ inspect, inspectBesideOthers }, halves = ['dev', 'held-out', 'blind']) {
  const findingsOf = ({ kind, definition, neighbours = [] }) => {
    const own = { upstream: 'server', definition };
    const others = neighbours.map(({ server, ...rest }) => ({ upstream: server, definition: rest }));
    return [...inspect(definition), ...(kind === 'tool' ? inspectBesideOthers([own, ...others])(own) : [])];
  };
  const judged = (file) =>
    read(file)
      .map((example) => ({ ...example, half: halfOf(example.id) }))
      .filter(({ half }) => halves.includes(half))
      .map((example) => ({ ...example, findings: findingsOf(example) }));
  const tools = realTools();
  const beside = inspectBesideOthers(tools);
  const real = tools.map((tool) => ({
    ...tool,
    alone: inspect(tool.definition),
    together: beside(tool),
  }));
  return { attacks: judged('attacks.json'), benign: judged('benign.json'), real };
}

/** The shares that the goals are about. */
export function summariseInspection({ attacks, benign, real }) {
  const share = (of, hit) => (of.length === 0 ? 0 : of.filter(hit).length / of.length);
  const isFound = ({ findings }) => findings.length > 0;
  const half = (of, name) => of.filter((example) => example.half === name);
  return {
    recall: share(attacks, isFound),
    recallDev: share(half(attacks, 'dev'), isFound),
    recallBlind: share(half(attacks, 'blind'), isFound),
    recallHeldOut: share(half(attacks, 'held-out'), isFound),
    hardAlarms: share(benign, isFound),
    hardAlarmsDev: share(half(benign, 'dev'), isFound),
    hardAlarmsHeldOut: share(half(benign, 'held-out'), isFound),
    realAlarms: share(real, ({ alone }) => alone.length > 0),
    realAlarmsBesideAll: share(real, ({ alone, together }) => alone.length + together.length > 0),
    attacks: attacks.length,
    benign: benign.length,
    real: real.length,
  };
}
