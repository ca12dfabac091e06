import { setTimeout as sleep } from 'node:timers/promises';

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

import { waitUntilReady } from '../lib/open-subjects.mjs';
import { open, prepareHome, subjectOf } from '../lib/subjects.mjs';
import { noteOf, withinMs } from '../lib/timeout.mjs';

const SERVERS = 10;
const TOOLS = 50;
const WAIT_MS = 15_000;
const QUERY = 'create an issue in a repository';
const SEARCHES = {
  'mcp-broker': { name: 'search_tools', arguments: { query: QUERY } },
  'mcp-hub-mcp': { name: 'find-tools', arguments: { pattern: 'issue' } },
  'slop-mcp': { name: 'search_tools', arguments: { query: QUERY } },
};

/** Counts the tokens that a client reads before its first call: the list and the instructions, with 500 tools of the generated catalog. */
export async function tokens(children, { plan, peers = [] }) {
  const rows = [];
  const notes = [];
  const ours = ['direct', 'search', 'code'].map((expose) => ({ name: 'trunkline', expose }));
  const naive = plan.naive.map((name) => ({ name }));
  const others = peers.filter(({ isOneServer }) => !isOneServer).map((peer) => ({ name: peer }));
  for (const { name, expose } of [...naive, ...ours, ...others]) {
    const { name: title, isPeer } = subjectOf(name);
    try {
      const figures = await readAll(children, { name, expose });
      rows.push({ name: expose === undefined ? title : `${title}, ${expose}`, ...figures });
    } catch (error) {
      if (!isPeer) throw error;
      notes.push(`${title}: ${noteOf(error)}`);
    }
  }
  const title = 'Tokens (o200k) that a client reads at its start, 500 generated tools; and of one search';
  const search = rows.find(({ name }) => name === 'trunkline, search');
  return {
    tables: [{ id: 'tokens', title, columns: COLUMNS, rows, notes }],
    facts: { tokens: { search: search.list + search.instructions, answer: search.answer } },
  };
}

const COLUMNS = [
  { key: 'tools', title: 'tools listed', kind: 'count' },
  { key: 'list', title: 'list', kind: 'count' },
  { key: 'instructions', title: 'instructions', kind: 'count' },
  { key: 'answer', title: 'a search', kind: 'count' },
];

async function readAll(children, { name, expose }) {
  const home = prepareHome(children, {
    servers: SERVERS,
    tools: TOOLS,
    config: { startup: { listWait: '10s' } },
    extra: (index) => ['--slice', String(index)],
  });
  const { isMeta, transports } = subjectOf(name);
  const subject = await open(children, { name, transport: transports[0], home, expose, withinMs: WAIT_MS });
  const isAll = isMeta || expose === 'search' || expose === 'code';
  const listed = async () => {
    for (;;) {
      const { tools } = await subject.client.request('tools/list');
      if (isAll || tools.length === SERVERS * TOOLS) return tools;
      await sleep(100);
    }
  };
  try {
    const tools = await subject.guard(withinMs(listed(), WAIT_MS, 'it did not list all tools'));
    if (isMeta)
      for (let index = 0; index < SERVERS; index++)
        await waitUntilReady(subject, { server: `bench${index}` });
    const instructions = subject.initialized?.instructions ?? '';
    const searching = expose === 'search' ? SEARCHES['mcp-broker'] : SEARCHES[subject.name];
    return {
      tools: tools.length,
      list: countTokens(JSON.stringify(tools)),
      instructions: countTokens(instructions),
      answer: searching && (await searchTokens(subject, searching)),
    };
  } finally {
    await subject.close();
  }
}

async function searchTokens(subject, params) {
  const asked = subject.client.request('tools/call', params);
  const { content } = await subject.guard(withinMs(asked, WAIT_MS));
  return countTokens(content.map(({ text }) => text ?? '').join(''));
}
