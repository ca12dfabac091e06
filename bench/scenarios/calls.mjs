import { fileURLToPath } from 'node:url';

import { load } from '../client/load.mjs';
import { requestBody } from '../client/requests.mjs';
import { cpuMicroseconds } from '../lib/proc.mjs';
import { interleaved, percentile } from '../lib/stats.mjs';
import { open, prepareHome } from '../lib/subjects.mjs';

const busyLoop = fileURLToPath(new URL('../fixtures/busy-loop.mjs', import.meta.url));

const TEXT = 'x'.repeat(32);
const MEGABYTE = 1024 * 1024;
const WARM_UP_MS = 600;
const GOALS = { stdio: { ofBaseAtLeast: 0.4 }, http: { ofBaseAtLeast: 0.55 } };

/** Latency, throughput, CPU and large results over one transport. */
export async function calls(children, { transport, plan, isBusy }) {
  const subjects = [];
  const busy = isBusy ? children.start([busyLoop, String(plan.limitSeconds)], { detached: true }) : undefined;
  try {
    for (const name of ['direct', 'floor', 'trunkline']) {
      const subject = await open(children, { name, transport, home: prepareHome(children) });
      subjects.push(subject);
      await subject.guard(check(subject));
      await subject.guard(warmUp(subject));
    }
    const results = await interleaved(subjects, {
      rounds: plan.callRounds,
      steps: Object.values(figures),
      measure: (subject, figure) => subject.guard(figure(subject, plan)),
    });
    return toRows(transport, Object.fromEntries([...results].map(([{ name }, rounds]) => [name, rounds])));
  } finally {
    if (busy !== undefined) await children.end(busy);
    await Promise.all(subjects.map((subject) => subject.close()));
  }
}

/** What is measured must also be right: the text that was sent, and as many bytes as were asked for. */
export async function check({ client, exposed, name }) {
  await client.request('tools/list');
  const echoed = await client.request('tools/call', { name: exposed('echo'), arguments: { text: TEXT } });
  const big = await client.request('tools/call', { name: exposed('big'), arguments: { bytes: MEGABYTE } });
  const lengths = [echoed.content[0].text, big.content[0].text].map((text) => text.length);
  if (echoed.content[0].text !== TEXT || lengths[1] !== MEGABYTE) throw new Error(`${name} answered wrongly`);
}

async function warmUp(subject) {
  await load(subject.client, { ...echo(subject), concurrency: 16, durationMs: WARM_UP_MS });
  await load(subject.client, { ...big(subject), concurrency: 1, durationMs: WARM_UP_MS / 4 });
}

/** The figures, each with what it takes to get it from one subject once. */
const figures = {
  async one(subject, { ms }) {
    const { times } = await load(subject.client, { ...echo(subject), concurrency: 1, durationMs: ms.one });
    return { p50: percentile(times, 0.5), p95: percentile(times, 0.95) };
  },
  async sixteen(subject, { ms }) {
    const before = cpuMicroseconds(subject.pid);
    const sixteen = { ...echo(subject), concurrency: 16, durationMs: ms.sixteen };
    const { times, callsPerSecond } = await load(subject.client, sixteen);
    const after = cpuMicroseconds(subject.pid);
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
  async large(subject, { ms }) {
    const { times } = await load(subject.client, { ...big(subject), concurrency: 1, durationMs: ms.large });
    return { large: percentile(times, 0.5) };
  },
};

export function echo({ exposed }) {
  const body = requestBody('tools/call', { name: exposed('echo'), arguments: { text: TEXT } });
  return { body, minBytes: TEXT.length };
}

export function big({ exposed }) {
  const body = requestBody('tools/call', { name: exposed('big'), arguments: { bytes: MEGABYTE } });
  return { body, minBytes: MEGABYTE };
}

function toRows(section, { direct, floor, trunkline }) {
  const rowOf = (key, title, unit, more) => ({
    section,
    key,
    title,
    unit,
    values: { direct: pick(direct, key), floor: pick(floor, key), trunkline: pick(trunkline, key) },
    ...more,
  });
  const added = (key, title) => {
    const less = (rounds) => rounds.map((round, index) => round[key] - direct[index][key]);
    const values = { floor: less(floor), trunkline: less(trunkline) };
    return { section, key: `${key}Added`, title, unit: 'ms', values, isDifference: true, hasRatios: false };
  };
  const cpu = rowOf('cpu', 'CPU of the middle process, a call', 'µs');
  // Directly there is nothing in the middle; what was read is the server's own CPU.
  delete cpu.values.direct;
  return [
    rowOf('p50', 'one call at a time, p50', 'ms'),
    added('p50', 'added, p50'),
    rowOf('p95', 'one call at a time, p95', 'ms'),
    added('p95', 'added, p95'),
    rowOf('callsPerSecond16', 'calls a second, 16 in flight', '/s', { goal: GOALS[section] }),
    rowOf('callsPerSecond128', 'calls a second, 128 in flight', '/s'),
    ...(trunkline[0].cpu === undefined ? [] : [cpu]),
    rowOf('large', 'result of 1 MB, p50', 'ms'),
  ];
}

function pick(rounds, key) {
  return rounds.map((round) => round[key]);
}
