import { fileURLToPath } from 'node:url';

import { load } from '../client/load.mjs';
import { requestBody } from '../client/requests.mjs';
import { openSubjects } from '../lib/open-subjects.mjs';
import { interleaved, medianOf, paired, percentile } from '../lib/stats.mjs';
import { cpuReader, prepareHome } from '../lib/subjects.mjs';
import { noteOf } from '../lib/timeout.mjs';

const busyLoop = fileURLToPath(new URL('../fixtures/busy-loop.mjs', import.meta.url));

const TEXT = 'x'.repeat(32);
const KILOBYTE = 1024;
const MEGABYTE = KILOBYTE * KILOBYTE;
const MEDIUM = 100 * KILOBYTE;
const WARM_UP_MS = 3000;
const MAIN = ['direct', 'floor', 'trunkline'];
const TITLES = {
  stdio: 'Beside others, over stdio',
  http: 'Beside others, over HTTP (mcp-hub and slop-mcp: the older HTTP+SSE)',
};

/** Measures latency, throughput, CPU and large results over one transport. */
export async function calls(children, { transport, plan, isBusy, peers = [] }) {
  const busy = isBusy ? startBusyLoop(children, plan.limitSeconds) : undefined;
  const others = transport === 'stdio' ? ['sdk-naive', 'attached'] : ['sdk-naive'];
  const { subjects, notes, close } = await openSubjects(children, {
    transport,
    names: [...MAIN, ...others, ...peers],
    homeOf: () => prepareHome(children),
    prepare: async (subject) => {
      await check(subject);
      await warmUp(subject, plan);
      subject.cpu = cpuReader(subject);
      if (!MAIN.includes(subject.name)) subject.every = plan.othersEvery;
    },
  });
  try {
    const results = await interleaved(subjects, {
      rounds: plan.callRounds,
      steps: Object.values(figures),
      measure: (subject, step) => subject.guard(step(subject, plan)),
      onFailure: ({ name, subject }, error) => {
        notes.push(`${name}: stopped being measured: ${noteOf(error)}`);
        return subject.isPeer === true;
      },
    });
    const rounds = Object.fromEntries([...results].map(([{ name }, values]) => [name, values]));
    return { rows: toRows(transport, rounds), tables: [besideTable(transport, rounds, notes)] };
  } finally {
    if (busy !== undefined) await children.end(busy);
    await close();
  }
}

/** Keeps a core awake; see docs/benchmarks.md. */
export function startBusyLoop(children, seconds) {
  return children.start([busyLoop, String(seconds)], { detached: true });
}

/** Verifies the answers: the text that was sent, and the requested number of bytes. */
export async function check(subject) {
  await subject.client.request('tools/list');
  const ask = (tool, args) => subject.client.request('tools/call', subject.params(tool, args));
  const echoed = JSON.stringify(await ask('echo', { text: TEXT }));
  const large = JSON.stringify(await ask('big', { bytes: MEGABYTE }));
  if (!echoed.includes(TEXT) || large.length < MEGABYTE) throw new Error(`${subject.name} answered wrongly`);
}

/** Makes calls until the code is compiled: a fixed number, or as many as fit into the time. */
async function warmUp(subject, { warmCalls }) {
  const end = performance.now() + WARM_UP_MS;
  for (let done = 0; done < warmCalls && performance.now() < end;) {
    const { times } = await load(subject.client, { ...echo(subject), concurrency: 16, durationMs: 200 });
    done += times.length;
  }
  await load(subject.client, { ...big(subject), concurrency: 1, durationMs: 150 });
}

/** The figures, each with the function that measures it once for one subject. */
const figures = {
  async one(subject, { ms }) {
    const { times, callsPerSecond } = await load(subject.client, {
      ...echo(subject),
      concurrency: 1,
      durationMs: ms.one,
    });
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(times, share));
    return { p50, p95, p99, callsPerSecond1: callsPerSecond };
  },
  async sixteen(subject, { ms }) {
    const before = subject.cpu();
    const sixteen = { ...echo(subject), concurrency: 16, durationMs: ms.sixteen };
    const { times, callsPerSecond } = await load(subject.client, sixteen);
    const after = subject.cpu();
    return {
      callsPerSecond16: callsPerSecond,
      cpu: after === undefined ? undefined : (after - before) / times.length,
    };
  },
  async many(subject, { ms }) {
    const many = { ...echo(subject), concurrency: 128, durationMs: ms.many };
    const { callsPerSecond } = await load(subject.client, many);
    return { callsPerSecond128: callsPerSecond };
  },
  async medium(subject, { ms }) {
    const one = { ...big(subject, MEDIUM), concurrency: 1, durationMs: ms.medium };
    const { times } = await load(subject.client, one);
    return { medium: percentile(times, 0.5) };
  },
  async medium16(subject, { ms }) {
    const sixteen = { ...big(subject, MEDIUM), concurrency: 16, durationMs: ms.medium };
    const { callsPerSecond } = await load(subject.client, sixteen);
    return { medium16: (callsPerSecond * MEDIUM) / MEGABYTE };
  },
  async large(subject, { ms }) {
    const { times } = await load(subject.client, { ...big(subject), concurrency: 1, durationMs: ms.large });
    return { large: percentile(times, 0.5) };
  },
  async large16(subject, { ms }) {
    const sixteen = { ...big(subject), concurrency: 16, durationMs: ms.large };
    const { callsPerSecond } = await load(subject.client, sixteen);
    return { large16: callsPerSecond };
  },
};

export function echo(subject, server) {
  const body = requestBody('tools/call', subject.params('echo', { text: TEXT }, server));
  return { body, minBytes: TEXT.length };
}

export function big(subject, bytes = MEGABYTE) {
  const body = requestBody('tools/call', subject.params('big', { bytes }));
  return { body, minBytes: bytes };
}

function toRows(section, { direct, floor, trunkline }) {
  const rowOf = (key, title, unit) => ({
    section,
    key,
    title,
    unit,
    values: { direct: pick(direct, key), floor: pick(floor, key), trunkline: pick(trunkline, key) },
  });
  const added = (key, title) => {
    const less = (rounds) => rounds.map((round, index) => round[key] - direct[index][key]);
    const values = { floor: less(floor), trunkline: less(trunkline) };
    return { section, key: `${key}Added`, title, unit: 'ms', values, isDifference: true, hasRatios: false };
  };
  const cpu = rowOf('cpu', 'CPU of the middle processes, a call', 'µs');
  // A direct connection has no process in the middle: this is the CPU of the server itself.
  delete cpu.values.direct;
  return [
    ...['p50', 'p95', 'p99'].flatMap((key) => [
      rowOf(key, `one call at a time, ${key}`, 'ms'),
      added(key, `added, ${key}`),
    ]),
    rowOf('callsPerSecond1', 'calls a second, one at a time', '/s'),
    rowOf('callsPerSecond16', 'calls a second, 16 in flight', '/s'),
    rowOf('callsPerSecond128', 'calls a second, 128 in flight', '/s'),
    ...(trunkline[0].cpu === undefined ? [] : [cpu]),
    rowOf('medium', 'result of 100 KB, p50', 'ms'),
    rowOf('medium16', 'results of 100 KB, 16 in flight', 'MB/s'),
    rowOf('large', 'result of 1 MB, p50', 'ms'),
    rowOf('large16', 'results of 1 MB, 16 in flight', 'MB/s'),
  ];
}

const BESIDE_COLUMNS = [
  { key: 'p50Added', title: 'added p50 ms', kind: 'signed' },
  { key: 'p95Added', title: 'p95', kind: 'signed' },
  { key: 'p99Added', title: 'p99', kind: 'signed' },
  { key: 'p50', title: 'p50 of direct', kind: 'ratio' },
  { key: 'rate16', title: '16 in flight /s', kind: 'count' },
  { key: 'rate16OfDirect', title: 'of direct', kind: 'ratio' },
  { key: 'rate16OfFloor', title: 'of floor', kind: 'ratio' },
  { key: 'rate128OfDirect', title: '128: of direct', kind: 'ratio' },
  { key: 'cpu', title: 'CPU µs a call', kind: 'figure' },
  { key: 'medium', title: '100 KB of direct', kind: 'ratio' },
  { key: 'large', title: '1 MB of direct', kind: 'ratio' },
  { key: 'large16', title: '1 MB MB/s', kind: 'count' },
];

/** All subjects in one table; ratios are taken within a round. */
export function besideTable(transport, rounds, notes) {
  const { direct, floor } = rounds;
  const less = (one, other) => one - other;
  const divided = (one, other) => one / other;
  const rows = Object.entries(rounds).map(([name, own]) => {
    const against = (base, key, combine) => paired(pick(own, key), pick(base, key), combine);
    return {
      name: name === 'attached' ? 'trunkline, shared' : name,
      ...Object.fromEntries(['p50', 'p95', 'p99'].map((key) => [`${key}Added`, against(direct, key, less)])),
      p50: against(direct, 'p50', divided),
      rate16: medianOf(pick(own, 'callsPerSecond16')),
      rate16OfDirect: against(direct, 'callsPerSecond16', divided),
      rate16OfFloor: against(floor, 'callsPerSecond16', divided),
      rate128OfDirect: against(direct, 'callsPerSecond128', divided),
      cpu: name === 'direct' ? undefined : medianOf(pick(own, 'cpu')),
      medium: against(direct, 'medium', divided),
      large: against(direct, 'large', divided),
      large16: medianOf(pick(own, 'large16')),
    };
  });
  return { id: transport, title: TITLES[transport], columns: BESIDE_COLUMNS, rows, notes };
}

function pick(rounds, key) {
  return rounds.map((round) => round[key]);
}
