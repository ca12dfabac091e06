import { setTimeout as sleep } from 'node:timers/promises';

import { childCommands, cpuMicroseconds, memory } from '../lib/proc.mjs';
import { open } from '../lib/subjects.mjs';
import { MANY_TOOLS, prepareWarmHome } from './start.mjs';

const SERVERS = 10;
const SETTLE_MS = 1000;
const WAIT_MS = 20_000;
const GOAL = { valueAtMost: 70 };
const IDLE_PROGRAM = 'process.stdin.resume()';

/** Memory with 500 cached tools: with all servers running, and after they were stopped; then CPU while idle. */
export async function idleMemory(children, { plan }) {
  if (memory(process.pid).rss === undefined) return [];
  const home = await prepareWarmHome(children, { idle: '2s' });
  const node = children.start(['-e', IDLE_PROGRAM]);
  const floor = await openListed(children, { name: 'floor', home });
  const trunkline = await openListed(children, { name: 'trunkline', home });
  await servers(trunkline, SERVERS);
  await sleep(SETTLE_MS);
  const running = memory(trunkline.pid);
  await servers(trunkline, 0);
  await sleep(SETTLE_MS);
  const pids = { node: node.pid, floor: floor.pid, trunkline: trunkline.pid };
  const stopped = eachOf(pids, memory);
  const cpu = await idleCpu(pids, plan.idleSeconds);
  await Promise.all([children.end(node), floor.close(), trunkline.close()]);
  const row = (key, title, unit, figures, goal) => {
    const values = eachOf(figures, (figure) => [figure]);
    return { section: 'memory', key, title, unit, values, goal };
  };
  const part = (name) => eachOf(stopped, (figures) => figures[name]);
  return [
    row('rssRunning', 'RSS, ten servers running', 'MB', { trunkline: running.rss }, GOAL),
    row('pssRunning', 'PSS, ten servers running', 'MB', { trunkline: running.pss }),
    row('rss', 'RSS, servers stopped', 'MB', part('rss'), GOAL),
    row('pss', 'PSS, servers stopped', 'MB', part('pss')),
    { ...row('idleCpu', 'CPU while idle', 'ms/s', cpu), hasRatios: false },
  ].filter(({ values }) => values.trunkline[0] !== undefined);
}

async function openListed(children, options) {
  const subject = await open(children, options);
  const { tools } = await subject.guard(subject.client.request('tools/list'));
  if (tools.length !== MANY_TOOLS) throw new Error(`${options.name} listed ${tools.length} tools`);
  return subject;
}

/** Waits until so many servers run below the subject. */
async function servers({ name, pid }, wanted) {
  const end = Date.now() + WAIT_MS;
  const count = () => childCommands(pid).filter((command) => command.includes('echo-server')).length;
  while (count() !== wanted) {
    if (Date.now() > end) throw new Error(`${name} has ${count()} servers running instead of ${wanted}`);
    await sleep(50);
  }
}

async function idleCpu(pids, seconds) {
  const before = eachOf(pids, cpuMicroseconds);
  await sleep(seconds * 1000);
  const after = eachOf(pids, cpuMicroseconds);
  return Object.fromEntries(
    Object.keys(pids).map((name) => [name, (after[name] - before[name]) / 1000 / seconds]),
  );
}

function eachOf(record, map) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
