import { load } from '../client/load.mjs';
import { interleaved, medianOf, paired, percentile } from '../lib/stats.mjs';
import { cpuReader, open, prepareHome } from '../lib/subjects.mjs';
import { echo, startBusyLoop } from './calls.mjs';

const WARM_UP_MS = 500;

/** Measures clients of both eras of the protocol over both transports: with a handshake and a session, and without either. */
export async function eras(children, { plan, isBusy }) {
  const rows = [];
  for (const transport of ['stdio', 'http']) {
    const busy = isBusy ? startBusyLoop(children, plan.limitSeconds) : undefined;
    const subjects = [];
    try {
      for (const name of ['direct', 'floor', 'trunkline'])
        for (const era of ['legacy', 'modern'])
          subjects.push(await openWarm(children, { name, era, transport }));
      const results = await interleaved(subjects, {
        rounds: plan.eraRounds,
        steps: [one, sixteen],
        measure: (subject, step) => subject.guard(step(subject, plan)),
      });
      const roundsOf = (name, era) =>
        results.get(subjects.find((subject) => subject.name === name && subject.era === era));
      for (const name of ['direct', 'floor', 'trunkline'])
        for (const era of ['legacy', 'modern'])
          rows.push({ name: `${transport}, ${name}, ${era}`, ...figures({ name, era, roundsOf }) });
    } finally {
      if (busy !== undefined) await children.end(busy);
      await Promise.all(subjects.map((subject) => subject.close()));
    }
  }
  const title = 'Both eras of the protocol: 2025-06-18 with a handshake, 2026-07-28 without';
  return { tables: [{ id: 'eras', title, columns: COLUMNS, rows }] };
}

const COLUMNS = [
  { key: 'p50', title: 'p50 ms', kind: 'figure' },
  { key: 'p50OfDirect', title: 'of direct', kind: 'ratio' },
  { key: 'rate', title: '16 in flight /s', kind: 'count' },
  { key: 'rateOfFloor', title: 'of floor', kind: 'ratio' },
  { key: 'cpu', title: 'CPU µs a call', kind: 'figure' },
  { key: 'ofLegacy', title: 'CPU of legacy', kind: 'ratio' },
];

function figures({ name, era, roundsOf }) {
  const pick = (key, otherName = name, otherEra = era) =>
    roundsOf(otherName, otherEra).map((round) => round[key]);
  const divided = (one_, other) => one_ / other;
  const isMiddle = name !== 'direct';
  return {
    p50: medianOf(pick('p50')),
    p50OfDirect: paired(pick('p50'), pick('p50', 'direct'), divided),
    rate: medianOf(pick('rate')),
    rateOfFloor: isMiddle ? paired(pick('rate'), pick('rate', 'floor'), divided) : undefined,
    cpu: isMiddle ? medianOf(pick('cpu')) : undefined,
    ofLegacy:
      isMiddle && era === 'modern' ? paired(pick('cpu'), pick('cpu', name, 'legacy'), divided) : undefined,
  };
}

async function openWarm(children, { name, era, transport }) {
  const subject = await open(children, { name, era, transport, home: prepareHome(children) });
  await subject.guard(subject.client.request('tools/list'));
  await subject.guard(load(subject.client, { ...echo(subject), concurrency: 16, durationMs: WARM_UP_MS }));
  return { ...subject, era, cpu: cpuReader(subject) };
}

async function one(subject, { ms }) {
  const { times } = await load(subject.client, { ...echo(subject), concurrency: 1, durationMs: ms.one });
  return { p50: percentile(times, 0.5) };
}

async function sixteen(subject, { ms }) {
  const before = subject.cpu();
  const { times, callsPerSecond } = await load(subject.client, {
    ...echo(subject),
    concurrency: 16,
    durationMs: ms.sixteen,
  });
  return { rate: callsPerSecond, cpu: (subject.cpu() - before) / times.length };
}
