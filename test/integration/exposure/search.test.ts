import { expect } from 'vitest';

import { gatewayErrorCode, textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { requestExactly } from '../../support/exact-results.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

const searching = { args: ['--expose', 'search'], config: { startup: { listWait: '60s' } } };
const metaTools = [
  'search_tools',
  'describe_tools',
  'call_read_tool',
  'call_write_tool',
  'call_destructive_tool',
  'read_result',
];
const changed = 'notifications/tools/list_changed';

async function names(client: RawClient): Promise<readonly string[]> {
  return (await client.listTools()).map(({ name }) => name);
}

async function found(client: RawClient, query: string): Promise<string> {
  return textOfResult(await client.callTool('search_tools', { query }));
}

scenario('search exposure: finds, describes and calls a tool', { downstream: everyLeg }, async (cell) => {
  await using line = await cell.open({ one: ['plain'], two: ['many-tools', '--count', '300'] }, searching);
  const { client } = line;
  expect(await names(client)).toEqual(metaTools);
  const answer = await found(client, 'add two numbers');
  expect(answer.split('\n').slice(0, 2)).toEqual([
    'one__add(a: number, b: number) [read]',
    '  Adds two numbers.',
  ]);
  expect(await found(client, 'add two numbers')).toBe(answer);
  const described = textOfResult(await client.callTool('describe_tools', { names: ['one__add'] }));
  expect(JSON.parse(described)).toMatchObject({ name: 'one__add', inputSchema: { type: 'object' } });
  const sum = { name: 'one__add', arguments: { a: 2, b: 3 } };
  expect(textOfResult(await client.callTool('call_read_tool', sum))).toBe('5');
  expect(textOfResult(await client.callTool('call_destructive_tool', sum))).toBe('5');
  expect(textOfResult(await client.callTool('call_read_tool', { ...sum, arguments: '{"a":2,"b":3}' }))).toBe(
    '5',
  );
  const late = await client.callTool('call_write_tool', {
    name: 'one__slow',
    arguments: { ms: 60_000, text: 'x' },
    timeoutMs: 200,
  });
  expect(gatewayErrorCode(late)).toBe('CALL_TIMEOUT');
});

scenario(
  'search exposure: lists its tools before any server has answered',
  { downstream: everyLeg },
  async (cell) => {
    // If it waited for the server, the list would not be answered before the deadline of the client.
    const config = { startup: { listWait: '1h', refresh: '1h' } };
    const entries = { silent: { timeouts: { connect: '1h' } } };
    await using line = await cell.open({ silent: ['never-answers'] }, { ...searching, config, entries });
    expect(await names(line.client)).toEqual(metaTools);
  },
);

scenario(
  'auto exposure: lists few tools to a modern client on a first start',
  { downstream: ['http/modern', 'stdio/modern'] },
  async (cell) => {
    const config = { startup: { listWait: '60s' } };
    await using line = await cell.open({ one: ['plain'] }, { args: [], config });
    expect(await names(line.client)).toContain('one__echo');
  },
);

scenario(
  'search exposure: returns results through the call tools unchanged',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, searching);
    const { client } = line;
    for (const [tool, args] of [
      ['everything-content', {}],
      ['structured', { city: 'Prague' }],
      ['fail', {}],
    ] as const) {
      const through = { name: 'call_destructive_tool', arguments: { name: `one__${tool}`, arguments: args } };
      const itself = { name: `one__${tool}`, arguments: args };
      expect(await requestExactly(client, 'tools/call', through)).toEqual(
        await requestExactly(client, 'tools/call', itself),
      );
    }
  },
);

scenario(
  'search exposure: passes an elicitation of a called tool to the client',
  { downstream: everyLeg },
  async (cell) => {
    const capabilities = { elicitation: { form: {} } };
    await using line = await cell.open({ one: ['asks-the-user'] }, { ...searching, capabilities });
    const { client } = line;
    const answer = { action: 'accept', content: { name: 'Ada' } };
    client.answers('elicitation/create', () => answer);
    const params = {
      name: 'call_write_tool',
      arguments: { name: 'one__ask-form', arguments: { mark: 'm' } },
    };
    let result = await client.request('tools/call', params);
    if (client.era === 'modern') {
      expect(result['resultType']).toBe('input_required');
      const questions = Object.keys(result['inputRequests'] as object);
      const inputResponses = Object.fromEntries(questions.map((key) => [key, answer]));
      const { requestState } = result;
      result = await client.request('tools/call', { ...params, inputResponses, requestState });
    }
    expect(JSON.stringify(result)).toContain('Ada');
  },
);

scenario(
  'search exposure: rejects a tool whose tier exceeds that of the call tool',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open(
      { one: ['plain'] },
      { ...searching, entries: { one: { tools: { tiers: { touch: 'destructive', pid: 'read' } } } } },
    );
    const { client } = line;
    for (const [through, name, right] of [
      ['call_read_tool', 'crash', 'call_destructive_tool'],
      ['call_write_tool', 'crash', 'call_destructive_tool'],
      ['call_read_tool', 'change-list', 'call_write_tool'],
      ['call_write_tool', 'touch', 'call_destructive_tool'],
    ] as const) {
      const refused = await client.callTool(through, { name: `one__${name}`, arguments: {} });
      expect(gatewayErrorCode(refused)).toBe('WRONG_TIER');
      expect(textOfResult(refused)).toContain(right);
    }
    expect(line.logs['one']?.of('call')).toEqual([]);
    await client.callTool('call_read_tool', { name: 'one__pid', arguments: {} });
    expect(line.logs['one']?.of('call')).toHaveLength(1);
  },
);

scenario(
  'search exposure: rejects invalid arguments without calling the server',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, searching);
    const { client } = line;
    const call = { name: 'one__add', arguments: { a: 'two', b: 3 } };
    const refused = await client.callTool('call_read_tool', call);
    expect(gatewayErrorCode(refused)).toBe('ARGUMENTS_INVALID');
    expect(textOfResult(refused)).toMatch(/a must be number\.\nThe schema requires: \{"a":/);
    expect(gatewayErrorCode(await client.callTool('call_read_tool', { ...call, arguments: 'a=2' }))).toBe(
      'ARGUMENTS_INVALID',
    );
    const unknown = await client.callTool('call_read_tool', { ...call, name: 'one__ad' });
    expect(gatewayErrorCode(unknown)).toBe('ENTRY_NOT_FOUND');
    expect(textOfResult(unknown)).toContain('"one__add"');
    expect(line.logs['one']?.of('call')).toEqual([]);
    expect(
      textOfResult(await client.callTool('call_read_tool', { ...call, arguments: { a: 2, b: 3 } })),
    ).toBe('5');
  },
);

scenario(
  'search exposure: lists pinned tools and calls them by their own names',
  { downstream: everyLeg },
  async (cell) => {
    const config = { ...searching.config, expose: { kind: 'search', pin: ['*__echo'], callTools: 'single' } };
    await using line = await cell.open({ one: ['plain'], two: ['plain'] }, { config, args: [] });
    const { client } = line;
    expect(await names(client)).toEqual([
      'search_tools',
      'describe_tools',
      'call_tool',
      'read_result',
      'one__echo',
      'two__echo',
    ]);
    expect(textOfResult(await client.callTool('two__echo', { text: 'x' }))).toBe('x');
    const call = { name: 'one__echo', arguments: { text: 'y' } };
    expect(textOfResult(await client.callTool('call_tool', call))).toBe('y');
  },
);

const revealing = { args: [], config: { ...searching.config, expose: { kind: 'search', reveal: true } } };

const described = (client: RawClient, name: string): Promise<unknown> =>
  client.callTool('describe_tools', { names: [name] });

scenario(
  'search exposure: reveals described tools only to the session that asked',
  { downstream: ['stdio/legacy', 'http/legacy', 'sse/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, revealing);
    const { client } = line;
    expect(await names(client)).toEqual(metaTools);
    await described(client, 'one__echo');
    // The notification arrives before the answer.
    expect(client.notifications.all.filter(({ method }) => method === changed)).toHaveLength(1);
    expect(await names(client)).toContain('one__echo');
    expect(textOfResult(await client.callTool('one__echo', { text: 'x' }))).toBe('x');
    if (client.transport === 'stdio') return;
    const other = await line.another();
    expect(await names(other)).toEqual(metaTools);
    await described(other, 'one__add');
    expect(await names(other)).not.toContain('one__echo');
    expect(await names(client)).not.toContain('one__add');
    expect(client.notifications.all.filter(({ method }) => method === changed)).toHaveLength(1);
  },
);

scenario(
  'search exposure: does not change the tool list of modern clients',
  { downstream: ['http/modern', 'stdio/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, revealing);
    await described(line.client, 'one__echo');
    expect(await names(line.client)).toEqual(metaTools);
    expect(line.client.notifications.all).toEqual([]);
  },
);

scenario('search exposure: finds a tool that a server adds later', { downstream: everyLeg }, async (cell) => {
  await using line = await cell.open(
    { one: ['plain'] },
    { ...searching, entries: { one: { trust: 'scan' } } },
  );
  const { client } = line;
  await client.listen();
  const listed = await client.listTools();
  expect(await found(client, 'added')).not.toContain('one__added-');
  const more = { name: 'one__change-list', arguments: { add: 1, announce: 1 } };
  const count = Number(textOfResult(await client.callTool('call_write_tool', more)));
  const isFound = async (): Promise<boolean> =>
    (await found(client, 'came later')).includes(`one__added-${count - 1}`);
  await eventually(isFound, { what: 'The new tool', withinMs: 10_000 });
  // The list is the same as before, so no client needs to request it again.
  expect(await client.listTools()).toEqual(listed);
  expect(client.notifications.all.filter(({ method }) => method === changed)).toEqual([]);
});

scenario('search exposure: searches after a restart without starting a server', async () => {
  const home = temporaryFolder('trunkline-home');
  const entry = fixture('plain');
  const mcpServers = { one: entry };
  const search = async (): Promise<string> => {
    await using gateway = await startGateway({ home, mcpServers, ...searching });
    await using client = await gateway.client();
    await client.listTools();
    return await found(client, 'add two numbers');
  };
  const first = await search();
  const starts = fixtureLog(entry).of('started').length;
  await using gateway = await startGateway({ home, mcpServers, ...searching });
  await using client = await gateway.client();
  expect(await found(client, 'add two numbers')).toBe(first);
  expect(fixtureLog(entry).of('started')).toHaveLength(starts);
});

scenario(
  'auto exposure: lists few tools, searches many and says which in the instructions',
  { downstream: everyLeg },
  async (cell) => {
    for (const [count, isListed] of [
      [5, true],
      [300, false],
    ] as const) {
      await using line = await cell.open(
        { one: ['many-tools', '--count', String(count)] },
        { ...searching, args: [], open: false },
      );
      await eventually(() => line.logs['one']?.of('request').some(({ method }) => method === 'tools/list'), {
        what: 'The listing',
        withinMs: 10_000,
      });
      // The listing must be complete, too; the first list waits for it.
      if (line.client.transport !== 'stdio') await (await line.another()).listTools();
      else await new Promise((resolve) => setTimeout(resolve, 500));
      const introduced = await line.client.open();
      expect(introduced['instructions']).toContain(isListed ? 'are all listed' : 'are not listed');
      expect(await names(line.client)).toHaveLength(isListed ? count : metaTools.length);
    }
  },
);

scenario(
  'auto exposure: uses search while a server has no listing',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open(
      { one: ['plain'], two: ['never-answers'] },
      { args: [], config: { startup: { listWait: '200ms' } } },
    );
    expect(await names(line.client)).toEqual(metaTools);
    // A server that is already listed can be used meanwhile.
    const call = { name: 'one__echo', arguments: { text: 'x' } };
    expect(textOfResult(await line.client.callTool('call_read_tool', call))).toBe('x');
  },
);
