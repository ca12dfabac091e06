import { load } from '../client/load.mjs';
import { requestBody } from '../client/requests.mjs';
import { waitUntilReady } from '../lib/open-subjects.mjs';
import { interleaved, medianOf, paired, percentile } from '../lib/stats.mjs';
import { open, prepareHome, subjectOf } from '../lib/subjects.mjs';
import { noteOf } from '../lib/timeout.mjs';

const HUNG_CALLS = 32;
const CONCURRENCY = 4;
const ROUND_MS = 250;
const WARM_UP_MS = 600;

/**
 * Measures calls of a healthy server while another server leaves 32 calls unanswered, and the same calls without those 32. The two
 * measurements take turns.
 */
export async function hung(children, { plan, peers = [] }) {
  const rows = [];
  const notes = [];
  const names = ['floor', ...plan.naive, 'trunkline', ...peers.filter(({ isOneServer }) => !isOneServer)];
  for (const name of names) {
    const { isPeer, name: title } = subjectOf(name);
    try {
      const rounds = isPeer ? Math.ceil(plan.hungRounds / 3) : plan.hungRounds;
      rows.push({ name: title, ...(await compare(children, { name, rounds })) });
    } catch (error) {
      if (name === 'trunkline' || name === 'floor') throw error;
      notes.push(`${title}: ${noteOf(error)}`);
    }
  }
  const table = { id: 'hung', title: TITLE, columns: COLUMNS, rows, notes };
  return { tables: [table], facts: { hung: rows.find(({ name }) => name === 'trunkline') } };
}

const TITLE = `A healthy server, ${CONCURRENCY} calls in flight, beside ${HUNG_CALLS} calls of another that are never answered`;
const COLUMNS = [
  { key: 'aloneP50', title: 'alone p50 ms', kind: 'figure' },
  { key: 'aloneP95', title: 'p95', kind: 'figure' },
  { key: 'p50', title: 'beside: p50', kind: 'ratio' },
  { key: 'p95', title: 'p95', kind: 'ratio' },
];

async function compare(children, { name, rounds }) {
  const pair = [];
  try {
    for (const hasHungCalls of [false, true]) pair.push(await openSubject(children, { name, hasHungCalls }));
    const results = await interleaved(pair, {
      rounds,
      steps: ['calls'],
      measure: (subject) => subject.guard(measureHealthyCalls(subject, ROUND_MS)),
    });
    const [alone, beside] = pair.map((subject) => results.get(subject));
    const ratio = (key) =>
      paired(
        beside.map((round) => round[key]),
        alone.map((round) => round[key]),
        (one, other) => one / other,
      );
    const middle = (key) => medianOf(alone.map((round) => round[key]));
    return { aloneP50: middle('p50'), aloneP95: middle('p95'), p50: ratio('p50'), p95: ratio('p95') };
  } finally {
    await Promise.all(pair.map((subject) => subject.close()));
  }
}

async function openSubject(children, { name, hasHungCalls }) {
  const home = prepareHome(children, { servers: 2, extra: (index) => (index === 1 ? ['--hang'] : []) });
  const subject = await open(children, { name, transport: subjectOf(name).transports[0], home });
  try {
    await subject.guard(subject.client.request('tools/list'));
    for (const server of ['bench0', 'bench1']) await waitUntilReady(subject, { server });
    await subject.guard(measureHealthyCalls(subject, WARM_UP_MS));
    if (hasHungCalls) {
      const body = requestBody('tools/call', subject.params('hang', {}, 'bench1'));
      for (let call = 0; call < HUNG_CALLS; call++) subject.client.call(body, () => {});
    }
    return subject;
  } catch (error) {
    await subject.close();
    throw error;
  }
}

async function measureHealthyCalls(subject, durationMs) {
  const body = requestBody('tools/call', subject.params('echo', { text: 'healthy' }, 'bench0'));
  const { times } = await load(subject.client, { body, minBytes: 7, concurrency: CONCURRENCY, durationMs });
  return { p50: percentile(times, 0.5), p95: percentile(times, 0.95) };
}
