// Compares the CPU time per call of two builds and the floor, in turns under the same load, so that it works on a busy machine.
// node bench/compare.mjs [stdio | http] BEFORE/dist/main.js AFTER/dist/main.js [--rounds N] [--kilobytes N] [--in-flight N] [--modern] [--cold]
//
// With --cold each round starts new processes and measures their first 2,000 calls, before V8 has optimized the code.

import { PassThrough } from 'node:stream';
import { parseArgs } from 'node:util';

import { httpClient } from './client/http-client.mjs';
import { load } from './client/load.mjs';
import { modernParams, requestBody } from './client/requests.mjs';
import { stdioClient } from './client/stdio-client.mjs';
import { ownChildren } from './lib/children.mjs';
import { configOf, environment, prepareHome } from './lib/homes.mjs';
import { threadMicroseconds } from './lib/proc.mjs';
import { interleaved, median } from './lib/stats.mjs';
import { subjectOf } from './lib/subjects.mjs';

const WARM_UP_CALLS = 20_000;
const WARM_UP_TURNS = 30;
const TURN_MS = 500;
const COLD_CALLS = 2000;
const COLD_MS = 60_000;

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    kilobytes: { type: 'string', default: '0' },
    'in-flight': { type: 'string', default: '16' },
    modern: { type: 'boolean', default: false },
    cold: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const [transport, ...builds] = positionals;
const isHttp = transport === 'http';
const era = values.modern ? 'modern' : 'legacy';
const bytes = Number(values.kilobytes) * 1024;
const children = ownChildren();
process.on('exit', () => children.killAll());

const names = ['floor', ...builds];
const subjects = values.cold ? names.map((name) => ({ name })) : await startAll(names);
const results = await interleaved(subjects, {
  rounds: Number(values.rounds),
  steps: ['calls'],
  measure: (subject) => (values.cold ? coldTurn(subject) : turn(subject)),
});
for (const subject of subjects) print(subject, results.get(subject), results.get(subjects[0]));
await children.close();

async function startAll(all) {
  const started = [];
  for (const name of all) started.push(await warmedUp(await start(name)));
  return started;
}

/** Runs calls until V8 has optimized the hot code, which takes long on a busy machine. */
async function warmedUp(subject) {
  const { client, spec } = subject;
  for (let calls = 0, at = 0; calls < WARM_UP_CALLS && at < WARM_UP_TURNS; at++)
    calls += (await load(client, { ...spec, durationMs: TURN_MS })).times.length;
  return subject;
}

/** The first calls of a new process. */
async function coldTurn({ name }) {
  const subject = await start(name);
  try {
    return await turn(subject, { durationMs: COLD_MS, maxCalls: COLD_CALLS });
  } finally {
    await children.end(subject.running);
  }
}

async function start(name) {
  const home = prepareHome(children);
  const listen = isHttp ? ['--http', '127.0.0.1:0'] : ['--standalone'];
  const args =
    name === 'floor'
      ? subjectOf('floor').args({ config: configOf(home), home, transport })
      : [name, 'serve', '--config', configOf(home), '--expose', 'direct', ...listen];
  const running = children.start(args, { env: environment(home) });
  const client = isHttp
    ? httpClient(await addressOf(running), (error) => console.error(String(error)), { era })
    : stdioClient(running.child, { era });
  await client.open();
  await client.request('tools/list');
  const params =
    bytes > 0
      ? { name: 'bench__big', arguments: { bytes } }
      : { name: 'bench__echo', arguments: { text: 'x'.repeat(32) } };
  const body = requestBody('tools/call', values.modern ? modernParams(params) : params);
  const spec = { body, minBytes: Math.max(32, bytes), concurrency: Number(values['in-flight']) };
  return { name, client, running, pid: running.pid, spec };
}

async function turn({ client, pid, spec }, limits = { durationMs: TURN_MS }) {
  const before = threadMicroseconds(pid);
  const { times, callsPerSecond } = await load(client, { ...spec, ...limits });
  const spent = [...threadMicroseconds(pid)].map(([thread, micros]) => [
    Number(thread) === pid,
    (micros - (before.get(thread) ?? 0)) / times.length,
  ]);
  const sum = (wanted) =>
    spent.filter(([isMain]) => wanted(isMain)).reduce((all, [, micros]) => all + micros, 0);
  return { all: sum(() => true), main: sum((isMain) => isMain), callsPerSecond };
}

/** Ratios are taken within a round. */
function print({ name }, rounds, floor) {
  const of = (key) => median(rounds.map((round) => round[key])).toFixed(1);
  const ratio = (key) => median(rounds.map((round, at) => round[key] / floor[at][key])).toFixed(2);
  console.log(
    `${name}\n  CPU of a call ${of('all')} µs, ${ratio('all')} of the floor; of the main thread ${of('main')} µs, ${ratio('main')}; ` +
      `${Math.round(of('callsPerSecond'))} calls a second, ${ratio('callsPerSecond')}`,
  );
}

function addressOf(running) {
  const said = running.child.stderr.pipe(new PassThrough());
  return new Promise((resolve, reject) => {
    running.child.on('exit', () => reject(new Error(running.stderr)));
    said.on('data', () => {
      const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(running.stderr)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
}
