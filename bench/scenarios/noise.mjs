import { load } from '../client/load.mjs';
import { interleaved, median, percentile } from '../lib/stats.mjs';
import { open, prepareHome } from '../lib/subjects.mjs';
import { echo, startBusyLoop } from './calls.mjs';

const WARM_UP_MS = 400;
const MS = 100;

/**
 * Measures how much equal subjects differ: two direct connections and two floors in turns, with and without a busy loop beside them. The
 * other tables cannot show smaller differences.
 */
export async function noise(children, { plan }) {
  const rows = [];
  for (const isBusy of [false, true]) {
    const busy = isBusy ? startBusyLoop(children, plan.limitSeconds) : undefined;
    const subjects = [];
    try {
      for (const name of ['direct', 'direct', 'floor', 'floor'])
        subjects.push(await openWarm(children, name));
      const results = await interleaved(subjects, {
        rounds: plan.noiseRounds,
        steps: [one, sixteen],
        measure: (subject, step) => subject.guard(step(subject)),
      });
      const rounds = subjects.map((subject) => results.get(subject));
      const place = isBusy ? 'with a busy loop' : 'nothing beside';
      rows.push({ name: `direct, ${place}`, ...spread(rounds[0], rounds[1]) });
      rows.push({ name: `floor, ${place}`, ...spread(rounds[2], rounds[3]) });
    } finally {
      if (busy !== undefined) await children.end(busy);
      await Promise.all(subjects.map((subject) => subject.close()));
    }
  }
  const title = 'Noise: two of the same over stdio, in turns; a ratio would be 1.00 on a machine without any';
  return { tables: [{ id: 'noise', title, columns: COLUMNS, rows }] };
}

const COLUMNS = [
  { key: 'p50', title: 'p50 ms', kind: 'figure' },
  { key: 'p50Ratio', title: 'second of first', kind: 'ratio' },
  { key: 'p50Half', title: '(half)', kind: 'text' },
  { key: 'rate', title: '16 in flight /s', kind: 'count' },
  { key: 'rateRatio', title: 'second of first', kind: 'ratio' },
  { key: 'rateHalf', title: '(half)', kind: 'text' },
];

/** Medians, and the ratios of the two within each round, with the range of the middle half. */
export function spread(first, second) {
  const figures = {};
  for (const key of ['p50', 'rate']) {
    const ratios = second.map((round, index) => round[key] / first[index][key]);
    const [from, to] = [0.25, 0.75].map((share) => percentile(ratios, share).toFixed(2));
    figures[key] = median(first.map((round) => round[key]));
    figures[`${key}Ratio`] = median(ratios);
    figures[`${key}Half`] = `${from}–${to}`;
  }
  return figures;
}

async function openWarm(children, name) {
  const subject = await open(children, { name, home: prepareHome(children) });
  await subject.guard(subject.client.request('tools/list'));
  await subject.guard(load(subject.client, { ...echo(subject), concurrency: 16, durationMs: WARM_UP_MS }));
  return subject;
}

async function one(subject) {
  const { times } = await load(subject.client, { ...echo(subject), concurrency: 1, durationMs: MS });
  return { p50: percentile(times, 0.5) };
}

async function sixteen(subject) {
  const { callsPerSecond } = await load(subject.client, {
    ...echo(subject),
    concurrency: 16,
    durationMs: MS,
  });
  return { rate: callsPerSecond };
}
