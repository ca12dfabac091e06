// Measures how many records a second the writer of the audit record commits, and how many calls a second the gateway makes.

import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

import Libsql from 'libsql';

import { load } from '../client/load.mjs';
import { cpuMicroseconds } from '../lib/proc.mjs';
import { open, prepareHome } from '../lib/subjects.mjs';
import { echo } from '../scenarios/calls.mjs';
import { writeMessage } from './write-message.mjs';

const worker = fileURLToPath(new URL('../../dist/audit-worker.js', import.meta.url));

/** The batch size of the gateway. */
const BATCH = 100;
/** Batches in flight; the writer merges the ones that wait, as it does in the gateway. */
const AHEAD = 50;
const ARGUMENTS = JSON.stringify({ text: 'x'.repeat(32), more: { path: '/some/where', count: 3 } });
const RESULT = JSON.stringify({ content: [{ type: 'text', text: 'y'.repeat(400) }] });

const SETTINGS = {
  plain: {},
  everything: { arguments: true, results: true, chain: true },
};

export async function measureAudit({ children, plan }) {
  const seconds = plan.auditSeconds;
  const writer = {};
  for (const [name, settings] of Object.entries(SETTINGS))
    writer[name] = await writing(children.newFolder(), settings, seconds);
  return { writer, gateway: await calling(children, seconds) };
}

/** Records per second that the thread commits under constant load, and microseconds of CPU per record. */
async function writing(stateDir, settings, seconds) {
  const off = { arguments: false, results: false, chain: false };
  const workerData = { place: { stateDir }, keepMs: 1e12, maxBytes: 1e12, ...off, ...settings };
  const thread = new Worker(worker, { workerData, env: {} });
  let count = 0;
  let written = 0;
  let wake = () => {};
  thread.on('message', (message) => {
    if (message.type === 'lost') throw new Error(message.problem);
    written += message.count ?? 0;
    wake();
  });
  const give = () => {
    const first = count + 1;
    const records = Array.from({ length: BATCH }, () => record((count += 1)));
    thread.postMessage(writeMessage(records, 'bench', first));
  };
  const heard = () => new Promise((resolve) => (wake = resolve));
  give();
  await heard(); // The database is open and its tables exist.
  const [begin, before, cpu] = [performance.now(), written, process.cpuUsage()];
  const end = begin + seconds * 1000;
  while (performance.now() < end) {
    while (count - written < AHEAD * BATCH) give();
    await heard();
  }
  const { user, system } = process.cpuUsage(cpu);
  const rate = ((written - before) * 1000) / (performance.now() - begin);
  const micros = (user + system) / (written - before);
  const closed = new Promise((resolve) => thread.once('exit', resolve));
  thread.postMessage({ type: 'close' });
  await closed;
  return { rate, micros };
}

/** Builds records as the gateway does: all calls of a tool share one `common` object. */
const COMMON = Array.from({ length: 7 }, (_, n) => ({
  kind: 'tool',
  caller: 'bench',
  via: 'stdio',
  client: 'bench',
  clientVersion: '1',
  profile: 'default',
  server: 'bench',
  entry: 'echo',
  tier: 'write',
  outcome: 'ok',
  rule: 'default',
  fingerprint: createHash('sha256').update(String(n)).digest('hex').slice(0, 32),
}));

function record(n) {
  return {
    common: COMMON[n % 7],
    at: Date.now(),
    ms: 0.4,
    bytesIn: ARGUMENTS.length,
    bytesOut: RESULT.length,
    argumentText: ARGUMENTS,
    resultText: RESULT,
    resultChars: RESULT.length,
  };
}

/** Keeps sixteen calls in flight; all of them must be in the record after the gateway has ended. */
async function calling(children, seconds) {
  const home = prepareHome(children);
  const subject = await open(children, { name: 'trunkline', home });
  await subject.guard(subject.client.request('tools/list'));
  const before = cpuMicroseconds(subject.pid);
  const { times, callsPerSecond: rate } = await subject.guard(
    load(subject.client, { ...echo(subject), concurrency: 16, durationMs: seconds * 1000 }),
  );
  const micros = before === undefined ? undefined : (cpuMicroseconds(subject.pid) - before) / times.length;
  await subject.close();
  return { rate, micros, calls: times.length, records: recordsBelow(home) };
}

/** A configuration outside of the user's home has its own state folder. */
function recordsBelow(home) {
  const found = readdirSync(home, { recursive: true, withFileTypes: true });
  let records = 0;
  for (const { name, parentPath } of found.filter((each) => each.name === 'trunkline.db')) {
    const database = new Libsql(join(parentPath, name), { readonly: true });
    records += database.prepare('select count(*) as records from audit').get().records;
    database.close();
  }
  return records;
}

export function auditTable({ writer, gateway }) {
  const whole = (number) => Math.round(number).toLocaleString('en-US');
  const cpu = ({ micros }) => (micros === undefined ? '' : `${micros.toFixed(0)} µs of CPU each`);
  const missing = gateway.calls - gateway.records;
  const lines = [
    ['records the writer takes, a second', whole(writer.plain.rate), cpu(writer.plain)],
    ['  with arguments, results and the chain', whole(writer.everything.rate), cpu(writer.everything)],
    ['calls the gateway makes, a second', whole(gateway.rate), `${cpu(gateway)}, recording included`],
    ['  of which are not in the record', whole(missing), missing === 0 ? 'as it must be' : 'LOST'],
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  const texts = lines.map(([name, figure, note]) => `${name.padEnd(width)}  ${figure.padStart(8)}  ${note}`);
  return ['The record of operations', ...texts].join('\n');
}
