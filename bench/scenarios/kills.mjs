import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { requestBody } from '../client/requests.mjs';
import { textOf } from '../client/answer.mjs';
import { waitUntilReady } from '../lib/open-subjects.mjs';
import { isRunning, memory } from '../lib/proc.mjs';
import { median, percentile } from '../lib/stats.mjs';
import { open, prepareHome, serverProcesses, subjectOf } from '../lib/subjects.mjs';
import { noteOf, withinMs } from '../lib/timeout.mjs';
import { firstList } from './start.mjs';

const ANSWER_WITHIN_MS = 5000;
const RECOVER_WITHIN_MS = 8000;
const LEFT_AFTER_MS = 6000;
const STARTS = 5;
const SERVERS = 3;
const PEER_KILLS = 3;

/** Kills a server in the middle of a call, repeatedly; then ends the subject itself in several ways. */
export async function kills(children, { plan, peers = [] }) {
  if (memory(process.pid).rss === undefined) return {}; // Processes can be found only with /proc.
  const names = [...plan.naive, 'trunkline', ...peers];
  const rows = [];
  const notes = [];
  for (const name of names) {
    const { isPeer, name: title } = subjectOf(name);
    try {
      const killed = await killServers(children, { name, kills: isPeer ? PEER_KILLS : plan.kills });
      const left = await endings(children, { name, isAll: name === 'trunkline' });
      rows.push({ name: title, ...killed, ...left });
    } catch (error) {
      if (!isPeer && name !== 'sdk-naive') throw error;
      notes.push(`${title}: ${noteOf(error)}`);
    } finally {
      await children.endAll();
    }
  }
  const starts = [];
  for (let round = 0; round < STARTS; round++)
    starts.push(await firstList(children, { name: 'direct', home: prepareHome(children) }));
  const serverStartMs = median(starts);
  notes.push(`the server alone takes ${serverStartMs.toFixed(0)} ms from its start to its first list`);
  notes.push(
    `a run of kills ends with the first one after which the server is not back within 8 s; peers have at most ${PEER_KILLS}`,
  );
  const facts = { ...rows.find(({ name }) => name === 'trunkline'), serverStartMs };
  return { tables: [{ id: 'kills', title: TITLE, columns: COLUMNS, rows, notes }], facts: { kills: facts } };
}

const TITLE = 'kill -9 of a server during a call, and what is left of three servers when the gateway ends';
const COLUMNS = [
  { key: 'kills', title: 'kills', kind: 'count' },
  { key: 'answered', title: 'answered', kind: 'count' },
  { key: 'answerMs', title: 'after ms', kind: 'figure' },
  { key: 'recovered', title: 'back', kind: 'count' },
  { key: 'recoveryMs', title: 'after ms', kind: 'count' },
  { key: 'worstMs', title: 'worst', kind: 'count' },
  { key: 'refused', title: 'refused before', kind: 'count' },
  { key: 'repeated', title: 'made twice', kind: 'count' },
  { key: 'othersFailed', title: 'others failed', kind: 'count' },
  { key: 'leftTerm', title: 'left: SIGTERM', kind: 'count' },
  { key: 'leftKill', title: 'kill -9', kind: 'count' },
  { key: 'leftTermStubborn', title: 'stubborn: SIGTERM', kind: 'count' },
  { key: 'leftKillStubborn', title: 'kill -9', kind: 'count' },
];

async function killServers(children, { name, kills: wanted }) {
  const { isOneServer, transports } = subjectOf(name);
  const home = prepareHome(children, {
    servers: isOneServer ? 1 : 2,
    extra: (index) => (index === 0 ? ['--hang'] : []),
  });
  const subject = await open(children, { name, transport: transports[0], home, isApart: true });
  const first = isOneServer ? 'bench' : 'bench0';
  const counted = { kills: 0, answered: 0, recovered: 0, refused: 0, othersFailed: 0 };
  const times = { answers: [], recoveries: [] };
  try {
    await subject.guard(subject.client.request('tools/list'));
    await waitUntilReady(subject, { server: first });
    if (!isOneServer) await waitUntilReady(subject, { server: 'bench1' });
    while (counted.kills < wanted && counted.recovered === counted.kills)
      await killOnce(subject, { first, second: isOneServer ? undefined : 'bench1', home, counted, times });
  } finally {
    await subject.close();
  }
  return {
    ...counted,
    answerMs: times.answers.length === 0 ? undefined : median(times.answers),
    recoveryMs: times.recoveries.length === 0 ? undefined : median(times.recoveries),
    worstMs: times.recoveries.length === 0 ? undefined : percentile(times.recoveries, 1),
    repeated: hangsIn(home) - counted.kills,
  };
}

async function killOnce(subject, { first, second, home, counted, times }) {
  const before = hangsIn(home);
  let answeredAt;
  const body = requestBody('tools/call', subject.params('hang', {}, first));
  const answered = new Promise((resolve) =>
    subject.client.call(body, (answer) => {
      answeredAt = performance.now();
      resolve(textOf(answer));
    }),
  );
  await withinMs(
    until(() => hangsIn(home) > before),
    ANSWER_WITHIN_MS,
    'the call did not reach the server',
  );
  const server = serverProcesses(subject).find(({ command }) => command.includes('--hang'));
  process.kill(server.pid, 'SIGKILL');
  counted.kills++;
  const killedAt = performance.now();
  const other = second === undefined ? true : callOnce(subject, second);
  const recovered = recover(subject, { first, counted }).then((isBack) => isBack && performance.now());
  try {
    await subject.guard(withinMs(answered, ANSWER_WITHIN_MS));
    counted.answered++;
    times.answers.push(answeredAt - killedAt);
  } catch {
    // Missing answers count as failures.
  }
  if (!(await other)) counted.othersFailed++;
  const backAt = await recovered;
  if (backAt === false) return;
  counted.recovered++;
  times.recoveries.push(backAt - killedAt);
}

/** Calls until a call succeeds, and counts the calls that are refused or not answered. */
async function recover(subject, { first, counted }) {
  const end = Date.now() + RECOVER_WITHIN_MS;
  while (Date.now() < end) {
    if (await callOnce(subject, first)) return true;
    counted.refused++;
    await sleep(5);
  }
  return false;
}

async function callOnce(subject, server) {
  try {
    const params = subject.params('echo', { text: 'alive' }, server);
    const asked = subject.client.request('tools/call', params);
    const result = await subject.guard(withinMs(asked, ANSWER_WITHIN_MS));
    return result.isError !== true && JSON.stringify(result).includes('alive');
  } catch {
    return false; // The call was refused or not answered.
  }
}

/** Counts how many of three servers still run 6 s after the subject was ended in each way; peers are measured with stubborn servers only. */
async function endings(children, { name, isAll }) {
  const ways = {
    ...(isAll && { leftTerm: { signal: 'SIGTERM', extra: [] }, leftKill: { signal: 'SIGKILL', extra: [] } }),
    leftTermStubborn: { signal: 'SIGTERM', extra: ['--stubborn'] },
    leftKillStubborn: { signal: 'SIGKILL', extra: ['--stubborn'] },
  };
  const left = {};
  for (const [key, way] of Object.entries(ways)) left[key] = await leftAfter(children, { name, ...way });
  return left;
}

async function leftAfter(children, { name, signal, extra }) {
  const { isOneServer, transports } = subjectOf(name);
  const servers = isOneServer ? 1 : SERVERS;
  const home = prepareHome(children, { servers, extra: () => extra });
  const subject = await open(children, { name, transport: transports[0], home, isApart: true });
  const names = isOneServer ? ['bench'] : Array.from({ length: SERVERS }, (_, index) => `bench${index}`);
  await subject.guard(subject.client.request('tools/list'));
  for (const server of names) await waitUntilReady(subject, { server });
  process.kill(subject.pid, signal);
  const remaining = () => serverProcesses(subject).filter(({ pid }) => isRunning(pid)).length;
  const end = Date.now() + LEFT_AFTER_MS;
  while (remaining() > 0 && Date.now() < end) await sleep(50);
  const left = remaining();
  subject.client.close();
  await children.endAll();
  return left;
}

function hangsIn(home) {
  try {
    return readFileSync(join(home, 'hangs'), 'latin1').split('\n').length - 1;
  } catch {
    return 0; // No call has hung yet.
  }
}

async function until(isSo) {
  while (!isSo()) await sleep(2);
}
