import { bytesOf, isResult } from '../client/answer.mjs';
import { openSubjects } from '../lib/open-subjects.mjs';
import { interleaved, medianOf, paired, percentile } from '../lib/stats.mjs';
import { anotherClient, memoryOf, prepareHome, serverProcesses } from '../lib/subjects.mjs';
import { noteOf, withinMs } from '../lib/timeout.mjs';
import { echo } from './calls.mjs';

const CALLS = 20;
const LIMIT_MS = 60_000;
const PEER_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 100;
const MAIN = ['direct', 'floor', 'trunkline'];

/** Measures many HTTP clients at once: each performs a handshake and twenty calls one after the other. */
export async function clients(children, { plan, peers = [] }) {
  const tables = [];
  const facts = {};
  for (const count of plan.clientCounts) {
    const able = peers.filter(({ maxClients = Infinity }) => count <= maxClients);
    const { rows, notes } = await manyClients(children, { count, plan, peers: able });
    const left = peers.filter((peer) => !able.includes(peer));
    for (const { name } of left) notes.push(`${name}: left out, it starts a server for each client`);
    const title = `${count} HTTP clients at once, each a handshake and ${CALLS} calls`;
    tables.push({ id: `clients${count}`, title, columns: COLUMNS, rows, notes });
    facts[count] = rows.find(({ name }) => name === 'trunkline');
  }
  return { tables, facts: { clients: facts } };
}

const COLUMNS = [
  { key: 'failed', title: 'failed', kind: 'count' },
  { key: 'rate', title: 'calls /s', kind: 'count' },
  { key: 'rateOfDirect', title: 'of direct', kind: 'ratio' },
  { key: 'rateOfFloor', title: 'of floor', kind: 'ratio' },
  { key: 'handshake', title: 'handshake p50 ms', kind: 'figure' },
  { key: 'p50', title: 'call p50 ms', kind: 'figure' },
  { key: 'p99', title: 'p99', kind: 'figure' },
  { key: 'rss', title: 'RSS at most MB', kind: 'count' },
  { key: 'servers', title: 'servers', kind: 'count' },
];

async function manyClients(children, { count, plan, peers }) {
  const { subjects, notes, close } = await openSubjects(children, {
    transport: 'http',
    names: [...MAIN, ...plan.naive, ...peers],
    homeOf: () => prepareHome(children),
    prepare: async (subject) => {
      await subject.client.request('tools/list');
      await subject.client.request('tools/call', subject.params('echo', { text: 'first' }));
      if (!MAIN.includes(subject.name)) subject.every = Math.ceil(plan.clientRounds / plan.otherClientRounds);
    },
  });
  try {
    const results = await interleaved(subjects, {
      rounds: plan.clientRounds,
      steps: ['clients'],
      measure: (subject) => subject.guard(crowd(subject, count)),
      onFailure: ({ name, subject }, error) => {
        notes.push(`${name}: ${noteOf(error)}`);
        return subject.isPeer === true || subject.name === 'sdk-naive';
      },
    });
    const rounds = Object.fromEntries([...results].map(([{ name }, values]) => [name, values]));
    return { rows: toRows(rounds), notes };
  } finally {
    await close();
  }
}

function toRows(rounds) {
  const pick = (name, key) => rounds[name].map((round) => round[key]);
  return Object.keys(rounds).map((name) => {
    const of = (base) => paired(pick(name, 'rate'), pick(base, 'rate'), (one, other) => one / other);
    const figures = COLUMNS.filter(({ key }) => !key.startsWith('rateOf')).map(({ key }) => [
      key,
      key === 'failed'
        ? pick(name, key).reduce((sum, failed) => sum + (failed ?? 0), 0)
        : medianOf(pick(name, key)),
    ]);
    return { name, ...Object.fromEntries(figures), rateOfDirect: of('direct'), rateOfFloor: of('floor') };
  });
}

async function crowd(subject, count) {
  let rss = memoryOf(subject).rss ?? 0;
  const look = setInterval(() => (rss = Math.max(rss, memoryOf(subject).rss ?? 0)), LOOK_EVERY_MS);
  const times = { handshakes: [], calls: [] };
  const begin = performance.now();
  const open = new Set();
  try {
    const all = Promise.allSettled(Array.from({ length: count }, () => oneClient(subject, times, open)));
    const outcomes = await withinMs(all, subject.subject.isPeer ? PEER_LIMIT_MS : LIMIT_MS);
    const ms = performance.now() - begin;
    const share = (values, part) => (values.length === 0 ? undefined : percentile(values, part));
    return {
      failed: outcomes.filter(({ status }) => status === 'rejected').length,
      rate: (times.calls.length * 1000) / ms,
      handshake: share(times.handshakes, 0.5),
      p50: share(times.calls, 0.5),
      p99: share(times.calls, 0.99),
      rss,
      servers: subject.name === 'direct' ? undefined : serverProcesses(subject).length,
    };
  } finally {
    clearInterval(look);
    for (const client of open) client.close();
  }
}

async function oneClient(subject, { handshakes, calls }, open) {
  let fail;
  const failed = new Promise((_, reject) => (fail = reject));
  failed.catch(() => {}); // The race reports it.
  const client = anotherClient(subject, fail);
  open.add(client);
  const { body, minBytes } = echo(subject);
  const work = async () => {
    const begin = performance.now();
    await client.open();
    handshakes.push(performance.now() - begin);
    for (let call = 0; call < CALLS; call++) {
      const asked = performance.now();
      const answer = await new Promise((resolve) => client.call(body, resolve));
      if (!isResult(answer) || bytesOf(answer) < minBytes) throw new Error('wrong answer');
      calls.push(performance.now() - asked);
    }
  };
  try {
    await Promise.race([work(), failed]);
  } finally {
    client.close();
    open.delete(client);
  }
}
