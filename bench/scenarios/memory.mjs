import { setTimeout as sleep } from 'node:timers/promises';

import { memory } from '../lib/proc.mjs';
import { medianOf } from '../lib/stats.mjs';
import { cpuReader, memoryOf, open, prepareHome, serverProcesses, subjectOf } from '../lib/subjects.mjs';
import { noteOf, withinMs } from '../lib/timeout.mjs';

const SERVERS = 10;
const SETTLE_MS = 1500;
/** One-off work is over by then, such as the garbage collection that V8 does by itself about eight seconds after activity. */
const REST_MS = 12_000;
const LISTS = 5;
const WAIT_MS = 25_000;
const IDLE_PROGRAM = 'process.stdin.resume()';

/**
 * Measures idle memory and CPU in front of ten running servers: on a second start, after the whole list was read once. Trunkline is also
 * measured after its idle servers were stopped.
 */
export async function idleMemory(children, { plan, peers = [] }) {
  if (memory(process.pid).rss === undefined) return {};
  const tables = [];
  const facts = {};
  for (const size of plan.sizes) {
    const notes = [];
    const rows = [await emptyNode(children)];
    for (const name of ['floor', ...plan.naive, 'trunkline', ...peers.filter((peer) => !peer.isOneServer)]) {
      const { isPeer, name: title } = subjectOf(name);
      try {
        const figures = await idleOf(children, { name, size, plan });
        rows.push({ name: title, ...figures });
        if (name === 'trunkline') facts[size] = figures;
      } catch (error) {
        if (!isPeer) throw error;
        notes.push(`${title}: ${noteOf(error)}`);
      } finally {
        await children.endAll();
      }
    }
    if (plan.isMemoryWhole && size === plan.sizes[0])
      rows.push(await stoppedServers(children, { size, plan }));
    const title = `Idle, ten servers, ${size.toLocaleString('en-US')} tools; node is an empty process`;
    tables.push({ id: `memory${size}`, title, columns: COLUMNS, rows, notes });
  }
  return { tables, facts: { memory: facts } };
}

const COLUMNS = [
  { key: 'rss', title: 'RSS MB', kind: 'figure' },
  { key: 'pss', title: 'PSS MB', kind: 'figure' },
  { key: 'processes', title: 'processes', kind: 'count' },
  { key: 'servers', title: 'servers', kind: 'count' },
  { key: 'cpu', title: 'CPU ms/s', kind: 'figure' },
  { key: 'listMs', title: 'tools/list ms', kind: 'figure' },
];

async function emptyNode(children) {
  const node = children.start(['-e', IDLE_PROGRAM]);
  await sleep(SETTLE_MS);
  const { rss, pss } = memory(node.pid);
  await children.end(node);
  return { name: 'node', rss, pss, processes: 1 };
}

/** `config` applies to Trunkline only. */
async function openTwice(children, { name, size, config }) {
  const home = prepareHome(children, { servers: SERVERS, tools: size / SERVERS, config });
  const options = { name, transport: subjectOf(name).transports[0], home, withinMs: WAIT_MS };
  const first = await open(children, options);
  await listAll(first, size);
  await first.close();
  const subject = await open(children, options);
  await listAll(subject, size);
  return subject;
}

async function idleOf(children, { name, size, plan }) {
  const subject = await openTwice(children, { name, size });
  if (name === 'floor') await callEach(subject);
  await running(subject, SERVERS);
  // Starting servers use the cores.
  await sleep(SETTLE_MS);
  const lists = [];
  for (let at = 0; at < LISTS; at++) lists.push(await listTime(subject));
  const listMs = medianOf(lists);
  if (plan.isMemoryWhole || name === 'trunkline') await sleep(REST_MS);
  const cpu = await idleCpu(subject, plan.idleSeconds);
  const figures = { ...memoryOf(subject), servers: serverProcesses(subject).length, cpu, listMs };
  await subject.close();
  return figures;
}

async function listTime(subject) {
  const begin = performance.now();
  await subject.guard(subject.client.request('tools/list'));
  return performance.now() - begin;
}

async function stoppedServers(children, { size, plan }) {
  const subject = await openTwice(children, { name: 'trunkline', size, config: { idle: '2s' } });
  await running(subject, 0);
  await sleep(REST_MS);
  const figures = { ...memoryOf(subject), servers: 0, cpu: await idleCpu(subject, plan.idleSeconds) };
  await subject.close();
  return { name: 'trunkline, servers stopped', ...figures };
}

/** The floor starts a server on its first call. */
async function callEach(subject) {
  for (let server = 0; server < SERVERS; server++)
    await subject.guard(
      subject.client.request('tools/call', subject.params('echo', { text: 'start' }, `bench${server}`)),
    );
}

async function listAll(subject, size) {
  const all = async () => {
    for (;;) {
      const { tools } = await subject.client.request('tools/list');
      if (subject.subject.isMeta || tools.length === size) return;
      await sleep(100);
    }
  };
  await subject.guard(withinMs(all(), WAIT_MS, `${subject.name} did not list ${size} tools`));
}

/** Waits until `wanted` servers run. */
async function running(subject, wanted) {
  const end = Date.now() + WAIT_MS;
  const count = () => serverProcesses(subject).length;
  while (count() !== wanted) {
    if (Date.now() > end) throw new Error(`${count()} servers run instead of ${wanted}`);
    await sleep(100);
  }
}

/** Milliseconds of CPU per second. */
async function idleCpu(subject, seconds) {
  const read = cpuReader(subject);
  const before = read();
  await sleep(seconds * 1000);
  return (read() - before) / 1000 / seconds;
}
