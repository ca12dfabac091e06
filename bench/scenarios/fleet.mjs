import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { load } from '../client/load.mjs';
import { spreadClient } from '../client/spread-client.mjs';
import { modernParams, requestBody } from '../client/requests.mjs';
import { startPostgres } from '../fleet/postgres.mjs';
import { fleetRows, fleetFacts } from '../fleet/rows.mjs';
import { countKinds, withKinds } from '../fleet/statements.mjs';
import { interleaved } from '../lib/stats.mjs';
import { cpuReader, open, prepareHome } from '../lib/subjects.mjs';
import { startBusyLoop } from './calls.mjs';

const ERAS = ['legacy', 'modern'];
const IN_FLIGHT = 16;
const TEXT = 'x'.repeat(32);
/** The audit record is written within 100 ms; after this time without a write it is complete. */
const QUIET_MS = 250;
const QUIET_WITHIN_MS = 5000;

/** Measures one, two and three gateways on PostgreSQL and one on its file under the same load, and counts the statements of the database. */
export async function fleet(children, { plan, isBusy }) {
  const server = await startPostgres();
  const subjects = [];
  let busy;
  try {
    if (server.absent !== undefined) return { tables: [table([], [`left out: ${server.absent}`])] };
    for (const { name, gateways, isShared } of SUBJECTS) {
      const database = isShared ? await server.newDatabase() : undefined;
      subjects.push(await openSubject(children, { name, gateways, database, server }));
      await warmUp(subjects.at(-1), plan);
    }
    busy = isBusy ? startBusyLoop(children, plan.limitSeconds) : undefined;
    const results = await interleaved(subjects, {
      rounds: plan.fleetRounds,
      steps: ERAS,
      measure: async (subject, era) => ({ [era]: await subject.guard(timed(subject, era, plan)) }),
    });
    const rounds = [...results].map(([{ name }, values]) => ({ name, rounds: values }));
    return { tables: [table(fleetRows(rounds, ERAS))], facts: { fleet: fleetFacts(rounds, ERAS) } };
  } finally {
    if (busy !== undefined) await children.end(busy);
    await Promise.all(subjects.map((subject) => subject.close()));
    await server.close();
  }
}

/** The others are compared with the first. */
const SUBJECTS = [
  { name: 'one, SQLite', gateways: 1, isShared: false },
  { name: 'one, PostgreSQL', gateways: 1, isShared: true },
  { name: 'two replicas', gateways: 2, isShared: true },
  { name: 'three replicas', gateways: 3, isShared: true },
];

const COLUMNS = [
  { key: 'rate', title: 'calls /s', kind: 'count' },
  { key: 'rateOfFirst', title: 'of SQLite', kind: 'ratio' },
  { key: 'cpu', title: 'CPU µs a call', kind: 'figure' },
  { key: 'cpuOfFirst', title: 'of SQLite', kind: 'ratio' },
  { key: 'databaseCpu', title: 'database µs', kind: 'figure' },
  { key: 'batches', title: 'batches', kind: 'figure' },
  { key: 'record', title: 'statements', kind: 'figure' },
  { key: 'clock', title: 'by the clock', kind: 'figure' },
  { key: 'other', title: 'others', kind: 'figure' },
];

function table(rows, notes = []) {
  const title = `Gateways on one database, ${IN_FLIGHT} calls in flight over HTTP, each to the next gateway; statements of the database per 1,000 calls`;
  return { id: 'fleet', title, columns: COLUMNS, rows, notes };
}

async function openSubject(children, { name, gateways, database, server }) {
  const key = join(children.newFolder(), 'key');
  writeFileSync(key, randomBytes(32).toString('base64'), { mode: 0o600 });
  const config = database === undefined ? {} : { storage: { url: database.url, key: `\${file:${key}}` } };
  // Gateways on one database must share this; everything else is their own.
  const configHome = prepareHome(children, { config });
  const running = [];
  let fail;
  const failed = new Promise((_, reject) => (fail = reject));
  failed.catch(() => {}); // `guard` reports it.
  const clients = {};
  const close = async () => {
    for (const client of Object.values(clients)) client.close();
    await Promise.all(running.map((each) => each.close()));
  };
  try {
    for (let gateway = 0; gateway < gateways; gateway++) {
      const home = children.newFolder();
      running.push(await open(children, { name: 'trunkline', transport: 'http', home, configHome }));
    }
    for (const each of running) await each.guard(each.client.request('tools/list'));
    const addresses = running.map(({ url }) => url);
    for (const era of ERAS) {
      clients[era] = spreadClient(addresses, fail, { era });
      await Promise.race([clients[era].open(), failed]);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const readers = running.map((each) => cpuReader(each));
  return {
    name,
    gateways,
    clients,
    close,
    database,
    server,
    guard: (work) => running.reduce((guarded, each) => each.guard(guarded), Promise.race([work, failed])),
    cpu: () => sumOf(readers.map((read) => read())),
  };
}

function callOf(era) {
  const params = { name: 'bench__echo', arguments: { text: TEXT } };
  const body = requestBody('tools/call', era === 'modern' ? modernParams(params) : params);
  return { body, minBytes: TEXT.length, concurrency: IN_FLIGHT };
}

/** Makes enough calls that each gateway has compiled its hot code. */
async function warmUp(subject, { fleetWarmMs }) {
  for (const era of ERAS) {
    const durationMs = fleetWarmMs * subject.gateways;
    await subject.guard(load(subject.clients[era], { ...callOf(era), durationMs }));
  }
  await settled(subject);
}

/** CPU and statements until all calls are in the audit record, which is part of their cost. */
async function timed(subject, era, { ms }) {
  const before = figuresOf(subject);
  const { times, callsPerSecond } = await load(subject.clients[era], {
    ...callOf(era),
    durationMs: ms.sixteen,
  });
  await settled(subject);
  const after = figuresOf(subject);
  const calls = times.length;
  const perCall = (key) =>
    after[key] === undefined || before[key] === undefined ? undefined : (after[key] - before[key]) / calls;
  return {
    calls,
    rate: callsPerSecond,
    cpu: perCall('cpu'),
    databaseCpu: perCall('databaseCpu'),
    ...(subject.database && { asked: countKinds(after.asked.slice(before.asked.length)) }),
  };
}

function figuresOf({ cpu, database, server }) {
  if (database === undefined) return { cpu: cpu() };
  return { cpu: cpu(), databaseCpu: server.cpu(), asked: withKinds(database.statements()) };
}

async function settled({ database }) {
  if (database === undefined) {
    await sleep(QUIET_MS);
    return;
  }
  const written = () => countKinds(withKinds(database.statements())).record;
  const end = Date.now() + QUIET_WITHIN_MS;
  for (let last = -1; last !== written() && Date.now() < end;) {
    last = written();
    await sleep(QUIET_MS);
  }
}

function sumOf(values) {
  return values.includes(undefined) ? undefined : values.reduce((sum, value) => sum + value, 0);
}
