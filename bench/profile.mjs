// Shows where Trunkline spends its time: a CPU profile under one load, as a table of self times.
// node bench/profile.mjs [stdio | http | modern | modern-http | large | large-http | warm] [--seconds N] [--keep FILE]

import { copyFileSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { load } from './client/load.mjs';
import { ownChildren } from './lib/children.mjs';
import { open, prepareHome } from './lib/subjects.mjs';
import { big, check, echo } from './scenarios/calls.mjs';
import { MANY_TOOLS, firstList, prepareWarmHome } from './scenarios/start.mjs';

const ROWS = 30;
const WARM_UP_MS = 1000;

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '5' }, keep: { type: 'string' } },
  allowPositionals: true,
});
const durationMs = Number(values.seconds) * 1000;
const children = ownChildren();
process.on('exit', () => children.killAll());
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const drivers = {
  stdio: (nodeArgs) => drive(nodeArgs, { transport: 'stdio', request: echo, concurrency: 16 }),
  http: (nodeArgs) => drive(nodeArgs, { transport: 'http', request: echo, concurrency: 16 }),
  modern: (nodeArgs) =>
    drive(nodeArgs, { transport: 'stdio', era: 'modern', request: echo, concurrency: 16 }),
  'modern-http': (nodeArgs) =>
    drive(nodeArgs, { transport: 'http', era: 'modern', request: echo, concurrency: 16 }),
  large: (nodeArgs) => drive(nodeArgs, { transport: 'stdio', request: big, concurrency: 1 }),
  'large-http': (nodeArgs) => drive(nodeArgs, { transport: 'http', request: big, concurrency: 1 }),
  async warm(nodeArgs) {
    const home = await prepareWarmHome(children);
    const from = now();
    const ms = await firstList(children, { name: 'trunkline', home, tools: MANY_TOOLS, nodeArgs });
    return { from, to: from + ms * 1000 };
  },
};

const [what = 'stdio'] = positionals;
const folder = children.newFolder();
const interval = what === 'warm' ? 100 : 250;
const part = await drivers[what]([
  '--cpu-prof',
  `--cpu-prof-dir=${folder}`,
  `--cpu-prof-interval=${interval}`,
]);
const [file] = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
if (values.keep !== undefined) copyFileSync(join(folder, file), values.keep);
print(selfTimes(JSON.parse(readFileSync(join(folder, file), 'utf8')), part));
await children.close();

async function drive(nodeArgs, { transport, era, request, concurrency }) {
  const subject = await open(children, {
    name: 'trunkline',
    transport,
    era,
    home: prepareHome(children),
    nodeArgs,
  });
  await subject.guard(check(subject));
  const calls = (ms) =>
    subject.guard(load(subject.client, { ...request(subject), concurrency, durationMs: ms }));
  await calls(WARM_UP_MS);
  const from = now();
  const { callsPerSecond } = await calls(durationMs);
  const to = now();
  console.log(`${Math.round(callsPerSecond)} calls a second while profiled`);
  await subject.close();
  return { from, to };
}

/** The clock of CPU profiles, in microseconds. */
function now() {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Self time of each function in milliseconds, in one part of the profile. */
function selfTimes({ nodes, samples, timeDeltas, startTime }, { from, to }) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, frameName(callFrame)]));
  const times = new Map();
  let time = startTime;
  for (const [index, id] of samples.entries()) {
    time += timeDeltas[index];
    if (time < from || time > to) continue;
    const name = frames.get(id);
    times.set(name, (times.get(name) ?? 0) + timeDeltas[index] / 1000);
  }
  return times;
}

function frameName({ functionName, url, lineNumber }) {
  const place = url === '' ? '' : ` ${url.replace(/^.*\/(?=[^/]*\/[^/]*$)/, '')}:${lineNumber + 1}`;
  return `${functionName || '(anonymous)'}${place}`;
}

function print(times) {
  const idle = times.get('(idle)') ?? 0;
  const total = [...times.values()].reduce((sum, ms) => sum + ms, 0);
  const busy = total - idle;
  console.log(`${Math.round(busy)} ms busy, ${Math.round(idle)} ms idle`);
  const sorted = [...times].filter(([name]) => name !== '(idle)').toSorted((a, b) => b[1] - a[1]);
  for (const [name, ms] of sorted.slice(0, ROWS)) {
    console.log(`${((ms / busy) * 100).toFixed(1).padStart(5)} %  ${ms.toFixed(1).padStart(8)} ms  ${name}`);
  }
}
