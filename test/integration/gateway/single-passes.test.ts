import { expect, test } from 'vitest';

import { rpcErrorOf, waitForTool } from '../../support/client-helpers.ts';
import type { TestSetup } from '../../support/cell.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import { addKey, startGatewayWithAuth } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { httpTransport } from '../../support/raw-transports.ts';
import { type ScenarioCell, everyLeg, overHttp, scenario } from '../../support/scenario.ts';

checkLeaks();

const patient = { config: { startup: { listWait: '60s' } } };
const capabilities = { elicitation: { form: {}, url: {} } };

/** A client at the path of one server. */
async function alone(line: TestSetup, cell: ScenarioCell, server = 'one') {
  const era = cell.downstream === 'http/modern' ? ('modern' as const) : ('legacy' as const);
  const transport = httpTransport(`${line.gateway.url}/s/${server}`);
  const client = await RawClient.over(transport, { era, capabilities });
  const opened = await client.open();
  return { client, opened, [Symbol.asyncDispose]: () => client.close() };
}

scenario(
  'single server: passes unknown methods, their errors and metadata through unchanged',
  { downstream: overHttp, upstream: ['stdio/legacy', 'http/legacy', 'stdio/modern', 'http/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['dialect'] }, patient);
    await using first = await alone(line, cell);
    const { client, opened } = first;
    expect(opened['capabilities']).toMatchObject({ experimental: { 'example.com/dialect': { level: 3 } } });
    const own = { 'example.com/list': { exact: 1 } };
    expect(await client.request('tools/list')).toMatchObject({ _meta: own });
    // `_meta` of one list says nothing about the other lists.
    expect((await line.client.request('tools/list'))['_meta'] ?? {}).not.toMatchObject(own);
    const params = { a: [1, null], b: { c: 'd' } };
    expect(await client.request('vendor/repeat', params)).toMatchObject({ repeated: params });
    expect(await rpcErrorOf(client.request('vendor/fail'))).toMatchObject({
      code: -31999,
      message: 'Failed as asked. (-31999)',
      data: { deep: [1, { two: 2 }] },
    });
    // With several servers, the target of the request is unknown.
    expect(await rpcErrorOf(line.client.request('vendor/repeat', params))).toMatchObject({ code: -32601 });
    if (client.era === 'modern' || cell.upstream.endsWith('modern')) return;
    client.answers('vendor/question', (asked) => ({ was: asked['x'] }));
    expect(await client.request('vendor/ask-back', { x: 7 })).toEqual({ answer: { was: 7 } });
  },
);

scenario(
  'single server: returns its own errors for methods that it did not declare',
  { downstream: overHttp, upstream: ['stdio/legacy', 'http/legacy', 'stdio/modern', 'http/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['dialect'] }, patient);
    await using first = await alone(line, cell);
    const { client, opened } = first;
    expect(opened['capabilities']).not.toHaveProperty('prompts');
    for (const [method, own] of Object.entries({
      'prompts/list': 'No prompts here. (-32601)',
      'resources/templates/list': 'No templates here. (-32601)',
    }))
      expect(await rpcErrorOf(client.request(method)), method).toMatchObject({ code: -32601, message: own });
    // A tool that was never listed was never approved, so the request does not reach the server.
    expect(await rpcErrorOf(client.callTool('none'))).toMatchObject({
      message: 'Unknown tool: none. (-32602)',
    });
    const own = await rpcErrorOf(client.request('tools/list', { cursor: 'odd' }));
    expect(own).toMatchObject({ code: -32602, message: 'Unknown cursor. (-32602)' });
  },
);

scenario(
  'single server: passes unknown notifications both ways while it has only one client',
  { downstream: ['http/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['dialect'] }, patient);
    await using first = await alone(line, cell);
    const { client } = first;
    await client.listen();
    const said = client.notifications.next(({ method }) => method === 'notifications/vendor/said');
    await client.callTool('say');
    expect(await said).toMatchObject({ params: { where: 'in a call' } });
    const answered = client.notifications.next(({ method }) => method === 'notifications/vendor/answered');
    await client.notify('notifications/vendor/heard', { n: 1 });
    expect(await answered).toMatchObject({ params: { n: 1 } });
    // If two clients could be meant, none is notified.
    await using second = await alone(line, cell);
    await second.client.listen();
    await second.client.notify('notifications/vendor/heard', { n: 2 });
    const heard = (): unknown[] => line.logs['one']?.of('heard').map(({ params }) => params) ?? [];
    await eventually(() => heard().length === 2, { what: 'The second notification' });
    // The client uses the shared path, so nothing on the pipe can belong to that call.
    await line.client.callTool('one__say');
    const isSecond = ({ params }: { params: JsonObject }): boolean => params['n'] === 2;
    expect([...client.notifications.all, ...second.client.notifications.all].some(isSecond)).toBe(false);
  },
);

scenario(
  'single server: does not call a tool that the config denies',
  { downstream: overHttp },
  async (cell) => {
    const entries = { one: { tools: { deny: ['add'] } } };
    await using line = await cell.open({ one: ['plain'] }, { ...patient, entries });
    await using first = await alone(line, cell);
    expect(await rpcErrorOf(first.client.callTool('add', { a: 1, b: 2 }))).toMatchObject({ code: -32602 });
    expect(line.logs['one']?.of('call').map(({ tool }) => tool)).not.toContain('add');
  },
);

scenario(
  'single server: offers its tasks to clients of the same protocol era',
  { downstream: overHttp, upstream: ['stdio/legacy', 'stdio/modern'], pairing: 'every' },
  async (cell) => {
    await using line = await cell.open({ one: ['dialect'] }, patient);
    await using first = await alone(line, cell);
    const { client, opened } = first;
    const isSame = cell.downstream.split('/')[1] === cell.upstream.split('/')[1];
    const { capabilities: offered } = opened as { capabilities: JsonObject };
    const announced = client.era === 'modern' ? offered['extensions'] : offered['tasks'];
    if (!isSame) {
      // The tasks of the two eras are different protocols.
      if (client.era === 'legacy') expect(announced).toBeUndefined();
      expect(await rpcErrorOf(client.request('tasks/get', { taskId: 'any' }))).toMatchObject({
        code: -32601,
      });
      return;
    }
    expect(announced).toBeDefined();
    const begun = await client.request('tools/call', { name: 'begin', arguments: {}, task: { ttl: 1000 } });
    const taskId = idOf(begun);
    expect(await client.request('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
    expect(await client.request('tasks/cancel', { taskId })).toMatchObject({ status: 'cancelled' });
    expect(await rpcErrorOf(client.request('tasks/get', { taskId: 'none' }))).toMatchObject({
      message: 'No task none here. (-32602)',
    });
  },
);

scenario(
  'task: is followed at the server that runs it',
  { downstream: ['http/legacy', 'stdio/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['dialect'], two: ['dialect', '--same-ids'] }, patient);
    const { client } = line;
    // The announcement depends on what is listed by then.
    for (const name of ['one__begin', 'two__begin']) await waitForTool(client, name);
    if (cell.downstream === 'http/legacy') {
      const opened = await (await line.another()).initialize();
      expect(opened['capabilities']).toMatchObject({ tasks: { requests: { tools: { call: {} } } } });
    }
    const ids: string[] = [];
    for (const name of ['one__begin', 'two__begin'])
      ids.push(idOf(await client.request('tools/call', { name, arguments: {}, task: { ttl: 1000 } })));
    for (const taskId of ids) {
      expect(await client.request('tasks/get', { taskId })).toMatchObject({ taskId });
      expect(await client.request('tasks/result', { taskId })).toMatchObject({
        content: [{ text: `The result of ${taskId}.` }],
      });
    }
    expect(await rpcErrorOf(client.request('tasks/get', { taskId: 'none' }))).toMatchObject({ code: -32602 });
  },
);

scenario(
  'task: an id that two servers use is ambiguous at the shared path, and not at the path of each server',
  { downstream: ['http/legacy'] },
  async (cell) => {
    const servers = { one: ['dialect', '--same-ids'], two: ['dialect', '--same-ids'] } as const;
    await using line = await cell.open(servers, patient);
    const { client } = line;
    const ids: string[] = [];
    for (const name of ['one__begin', 'two__begin']) {
      await waitForTool(client, name);
      ids.push(idOf(await client.request('tools/call', { name, arguments: {}, task: { ttl: 1000 } })));
    }
    expect(ids).toEqual(['task-1', 'task-1']);
    await client.callTool('one__finish', { taskId: 'task-1' });
    const asked = (): number =>
      ['one', 'two'].flatMap((server) => line.logs[server]?.of('request') ?? []).filter(isAboutTask).length;
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      expect(await rpcErrorOf(client.request(method, { taskId: 'task-1' })), method).toMatchObject({
        code: -32602,
        message: expect.stringContaining('Several servers have a task with this id') as unknown,
      });
    expect(asked()).toBe(0);
    for (const [server, status] of Object.entries({ one: 'completed', two: 'working' })) {
      await using single = await alone(line, cell, server);
      const task = await single.client.request('tasks/get', { taskId: 'task-1' });
      expect(task, server).toMatchObject({ taskId: 'task-1', status });
    }
  },
);

test('task: another caller can neither follow, cancel nor list it, at the shared path and at that of its server', async () => {
  const one = fixture('dialect');
  const config = { ...patient.config, auth: { keys: true } };
  await using gateway = await startGatewayWithAuth(config, { mcpServers: { one } });
  await using anna = await withKey(gateway, 'anna');
  await using bert = await withKey(gateway, 'bert');
  await waitForTool(anna.shared, 'one__begin');
  const begin = async ({ shared }: typeof anna): Promise<string> =>
    idOf(await shared.request('tools/call', { name: 'one__begin', arguments: {}, task: { ttl: 1000 } }));
  const [taskId, other] = [await begin(anna), await begin(bert)];
  for (const [path, client] of Object.entries({ shared: bert.shared, single: bert.single }))
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      expect(await rpcErrorOf(client.request(method, { taskId })), `${method} ${path}`).toMatchObject({
        code: -32602,
        message: 'There is no such task. (-32602)',
      });
  // The request did not reach the server.
  expect(fixtureLog(one).of('request').filter(isAboutTask)).toEqual([]);
  expect(await bert.single.request('tasks/list')).toMatchObject({ tasks: [{ taskId: other }] });
  for (const client of [anna.shared, anna.single])
    expect(await client.request('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
});

scenario(
  'task: sends status notifications only to the client that started it',
  { downstream: ['http/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['dialect'] }, patient);
    const other = await line.another();
    for (const each of [line.client, other]) await each.listen();
    const begun = await line.client.request('tools/call', { name: 'one__begin', arguments: {}, task: {} });
    const taskId = idOf(begun);
    const done = line.client.notifications.waitFor(
      ({ method, params }) => method === 'notifications/tasks/status' && params['status'] === 'completed',
    );
    await other.callTool('one__finish', { taskId });
    expect(await done).toMatchObject({ params: { taskId } });
    const isStatus = ({ method }: { method: string }): boolean => method === 'notifications/tasks/status';
    expect(line.client.notifications.all.filter(isStatus)).toHaveLength(2);
    expect(other.notifications.all.some(isStatus)).toBe(false);
  },
);

scenario(
  'URL elicitation: sends the completion notice only to the client that was shown the page',
  { downstream: ['http/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['dialect'] }, { ...patient, capabilities });
    const other = await line.another({ capabilities });
    for (const each of [line.client, other]) {
      await each.listen();
      each.answers('elicitation/create', () => ({ action: 'accept' }));
    }
    const shown = (await line.client.callTool('one__show-page')).content[0]?.text;
    const done = line.client.notifications.waitFor(
      ({ method }) => method === 'notifications/elicitation/complete',
    );
    await other.callTool('one__page-done', { elicitationId: shown });
    expect(await done).toMatchObject({ params: { elicitationId: shown } });
    await other.callTool('one__say');
    expect(other.notifications.all.some(({ method }) => method.includes('elicitation'))).toBe(false);
  },
);

// MCP 2026-07-28 basic
scenario(
  "upstream error: is not passed on when it concerns the gateway's own use of the protocol",
  { downstream: everyLeg, upstream: ['stdio/modern', 'http/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['dialect'] }, patient);
    const outcome = async (code: number): Promise<JsonObject> =>
      line.client
        .callTool('one__refuse', { code: String(code) })
        .catch((error: unknown) => error as JsonObject);
    for (const code of [-32020, -32022]) {
      const answer = await outcome(code);
      expect(answer, String(code)).toMatchObject({
        isError: true,
        _meta: { 'trunkline/code': 'UPSTREAM_PROTOCOL' },
      });
    }
    const lacking = await outcome(-32021);
    if (line.client.era === 'modern') expect(lacking).toMatchObject({ code: -32021 });
    else expect(lacking).toMatchObject({ isError: true, _meta: { 'trunkline/code': 'QUESTION_DECLINED' } });
  },
);

scenario(
  'parked call: continues only at the path where it began',
  { downstream: ['http/modern'] },
  async (cell) => {
    const options = { ...patient, capabilities };
    await using line = await cell.open({ one: ['asks-the-user'], two: ['asks-the-user'] }, options);
    await using first = await alone(line, cell, 'one');
    await using second = await alone(line, cell, 'two');
    const tools = (await first.client.listTools()).map(({ name }) => name);
    const name = tools.find((tool) => tool.includes('elicit')) ?? tools[0] ?? '';
    const params = { name, arguments: { mark: 'm' } };
    const asked = await first.client.request('tools/call', params);
    expect(asked).toMatchObject({ resultType: 'input_required' });
    const inputResponses = Object.fromEntries(
      Object.keys(asked['inputRequests'] as object).map((key) => [
        key,
        { action: 'accept', content: { name: 'Ada' } },
      ]),
    );
    const answered = { ...params, inputResponses, requestState: asked['requestState'] };
    expect(await rpcErrorOf(second.client.request('tools/call', answered))).toMatchObject({ code: -32602 });
    expect(await first.client.request('tools/call', answered)).toHaveProperty('content');
  },
);

/** A caller with its own key, with one client at the shared path and one at the path of a server. */
async function withKey(gateway: RunningGateway, name: string) {
  const headers = { authorization: `Bearer ${await addKey(gateway, name)}` };
  const shared = await RawClient.over(httpTransport(gateway.url, headers));
  const single = await RawClient.over(httpTransport(`${gateway.url}/s/one`, headers));
  for (const client of [shared, single]) await client.open();
  return {
    shared,
    single,
    async [Symbol.asyncDispose]() {
      for (const client of [shared, single]) await client.close();
    },
  };
}

function isAboutTask({ method }: Readonly<Record<string, unknown>>): boolean {
  return typeof method === 'string' && method.startsWith('tasks/');
}

function idOf(result: JsonObject): string {
  const task = (result['task'] ?? result) as { taskId?: string };
  expect(task.taskId).toBeTypeOf('string');
  return task.taskId ?? '';
}
