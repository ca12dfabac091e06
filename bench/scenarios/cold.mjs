import { setTimeout as sleep } from 'node:timers/promises';

import { medianOf } from '../lib/stats.mjs';
import { open, prepareHome, subjectOf } from '../lib/subjects.mjs';
import { noteOf, withinMs } from '../lib/timeout.mjs';

/** A client that lists more often gets the new list before Trunkline announces it, and Trunkline then announces nothing. */
const LIST_AGAIN_MS = 500;
const SERVERS = 10;
const TOOLS = 50;
const SLOW_MS = 3000;
const FULL_WITHIN_MS = 9000;
/** The last server of each case, and the final number of tools. */
const CASES = {
  slow: { extra: ['--slow', String(SLOW_MS)], all: SERVERS * TOOLS, hasSecond: true },
  silent: { extra: ['--silent'], all: (SERVERS - 1) * TOOLS },
  without: { servers: SERVERS - 1, all: (SERVERS - 1) * TOOLS },
};

/** Measures the first start in front of ten servers, one of which takes 3 s or never answers, and the same without that one. */
export async function cold(children, { plan, peers = [] }) {
  const names = ['floor', ...plan.naive, 'trunkline', ...peers.filter(({ isOneServer }) => !isOneServer)];
  const found = new Map();
  const notes = [];
  for (let round = 0; round < plan.coldRounds; round++) {
    for (const name of names) {
      const { isPeer, name: title, transports } = subjectOf(name);
      if (isPeer && round > 0) continue;
      for (const [which, options] of Object.entries(CASES)) {
        // Peers are not measured without the last server.
        if (which === 'without' && name !== 'trunkline') continue;
        const run = { name, transport: transports[0], giveUpMs: plan.giveUpMs, ...options };
        const { note, ...figures } = await firstListOf(children, run);
        if (note !== undefined) notes.push(`${title}, ${which}: ${note}`);
        const key = `${which} ${title}`;
        found.set(key, [...(found.get(key) ?? []), figures]);
      }
    }
  }
  const figuresOf = (which, title) => mediansOf(found.get(`${which} ${title}`) ?? []);
  const titles = names.map((name) => subjectOf(name).name);
  const rows = titles.map((name) => {
    const slow = figuresOf('slow', name);
    const silent = figuresOf('silent', name);
    return {
      name: subjectName(names, name),
      ...slow,
      silentMs: silent.ms,
      silentTools: silent.tools,
      silentCallMs: silent.callMs,
    };
  });
  const facts = {
    slow: figuresOf('slow', 'trunkline'),
    silent: figuresOf('silent', 'trunkline'),
    without: figuresOf('without', 'trunkline'),
  };
  return { tables: [{ id: 'cold', title: TITLE, columns: COLUMNS, rows, notes }], facts: { cold: facts } };
}

const TITLE =
  'First start, ten servers of 50 tools: one takes 3 s to answer, or never answers; from the start of the process, ms';
const COLUMNS = [
  { key: 'ms', title: 'one slow: first list', kind: 'count' },
  { key: 'tools', title: 'tools in it', kind: 'count' },
  { key: 'callMs', title: 'first call', kind: 'count' },
  { key: 'fullMs', title: 'all 500', kind: 'count' },
  { key: 'announced', title: 'announced', kind: 'text' },
  { key: 'againMs', title: 'second start', kind: 'count' },
  { key: 'againTools', title: 'tools in it', kind: 'count' },
  { key: 'silentMs', title: 'one silent: first list', kind: 'count' },
  { key: 'silentTools', title: 'tools in it', kind: 'count' },
  { key: 'silentCallMs', title: 'first call', kind: 'count' },
];

function subjectName(names, title) {
  const isMeta = names.some((name) => typeof name !== 'string' && name.name === title && name.isMeta);
  return isMeta ? `${title} (lists its own tools)` : title;
}

/** Milliseconds from the start of the process to the first list, the first call and the complete list. */
async function firstListOf(children, options) {
  const { servers = SERVERS, extra = [], hasSecond = false } = options;
  const home = prepareHome(children, {
    servers,
    tools: TOOLS,
    extra: (index) => (index === SERVERS - 1 ? extra : []),
  });
  const first = await startOnce(children, { ...options, home });
  if (!hasSecond || first.note !== undefined) return first;
  const second = await startOnce(children, { ...options, home, isListOnly: true });
  return { ...first, againMs: second.ms, againTools: second.tools, note: second.note };
}

async function startOnce(children, { name, transport, giveUpMs, home, all, isListOnly = false }) {
  const begin = performance.now();
  const elapsed = () => performance.now() - begin;
  let announcedMs;
  const onNotification = (text) => {
    if (text.includes('tools/list_changed')) announcedMs ??= elapsed();
  };
  let subject;
  const figures = {};
  try {
    subject = await open(children, { name, transport, home, onNotification, withinMs: giveUpMs });
    const limited = (work) => subject.guard(withinMs(work, giveUpMs - elapsed() + 1));
    const list = async () => (await subject.client.request('tools/list')).tools.length;
    figures.tools = await limited(list());
    figures.ms = elapsed();
    if (isListOnly) return figures;
    figures.callMs = await limited(firstCall(subject, elapsed));
    if (subject.subject.isMeta) return figures;
    const full = async () => {
      while ((await list()) < all) await sleep(LIST_AGAIN_MS);
      return elapsed();
    };
    figures.fullMs =
      figures.tools >= all ? figures.ms : await subject.guard(withinMs(full(), FULL_WITHIN_MS));
    figures.announced = figures.tools >= all || transport !== 'stdio' ? '' : announcedMs ? 'yes' : 'no';
    return figures;
  } catch (error) {
    return { ...figures, note: noteOf(error) };
  } finally {
    if (subject !== undefined) await subject.close();
    await children.endAll();
  }
}

async function firstCall(subject, elapsed) {
  for (;;) {
    try {
      const params = subject.params('echo', { text: 'first' }, 'bench0');
      const result = await subject.client.request('tools/call', params);
      if (result.isError !== true) return elapsed();
    } catch {
      // Its server is not ready yet.
    }
    await sleep(20);
  }
}

function mediansOf(all) {
  const numbers = ['ms', 'tools', 'callMs', 'fullMs', 'againMs', 'againTools'].map((key) => [
    key,
    medianOf(all.map((one) => one[key])),
  ]);
  return { ...Object.fromEntries(numbers), announced: all.map(({ announced }) => announced).find(Boolean) };
}
