import { expect } from 'vitest';

import { failureOf, untilListed } from '../../support/asking.ts';
import type { Line } from '../../support/cell.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { httpTransport } from '../../support/raw-transports.ts';
import { type ScenarioCell, verifies } from '../verifies.ts';

checkLeaks();

const patient = { config: { startup: { listWait: '10s' } } };
const capabilities = { elicitation: { form: {}, url: {} } };

/** A client at the path of one server. */
async function alone(line: Line, cell: ScenarioCell, server = 'one') {
  const era = cell.downstream === 'http/modern' ? ('modern' as const) : ('legacy' as const);
  const transport = httpTransport(`${line.gateway.url}/s/${server}`);
  const client = await RawClient.over(transport, { era, capabilities });
  const opened = await client.open();
  return { client, opened, [Symbol.asyncDispose]: () => client.close() };
}

verifies('single:passes', async (cell) => {
  await using line = await cell.open({ one: ['dialect'] }, patient);
  await using first = await alone(line, cell);
  const { client, opened } = first;
  expect(opened['capabilities']).toMatchObject({ experimental: { 'example.com/dialect': { level: 3 } } });
  const own = { 'example.com/list': { exact: 1 } };
  expect(await client.request('tools/list')).toMatchObject({ _meta: own });
  // What came with one of several lists is about none of the others.
  expect((await line.client.request('tools/list'))['_meta'] ?? {}).not.toMatchObject(own);
  const params = { a: [1, null], b: { c: 'd' } };
  expect(await client.request('vendor/repeat', params)).toMatchObject({ repeated: params });
  expect(await failureOf(client.request('vendor/fail'))).toMatchObject({
    code: -31999,
    message: 'Failed as asked. (-31999)',
    data: { deep: [1, { two: 2 }] },
  });
  // With several servers nobody knows whom it is for.
  expect(await failureOf(line.client.request('vendor/repeat', params))).toMatchObject({ code: -32601 });
  if (client.era === 'modern' || cell.upstream.endsWith('modern')) return;
  client.answers('vendor/question', (asked) => ({ was: asked['x'] }));
  expect(await client.request('vendor/ask-back', { x: 7 })).toEqual({ answer: { was: 7 } });
});

verifies('single:undeclared', async (cell) => {
  await using line = await cell.open({ one: ['dialect'] }, patient);
  await using first = await alone(line, cell);
  const { client, opened } = first;
  expect(opened['capabilities']).not.toHaveProperty('prompts');
  for (const [method, own] of Object.entries({
    'prompts/list': 'No prompts here. (-32601)',
    'resources/templates/list': 'No templates here. (-32601)',
  }))
    expect(await failureOf(client.request(method)), method).toMatchObject({ code: -32601, message: own });
  // A tool that was never listed was never approved, so that the server is not asked.
  expect(await failureOf(client.callTool('none'))).toMatchObject({ message: 'Unknown tool: none. (-32602)' });
  const own = await failureOf(client.request('tools/list', { cursor: 'odd' }));
  expect(own).toMatchObject({ code: -32602, message: 'That cursor was never given. (-32602)' });
});

verifies('single:notifications', async (cell) => {
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
  // Where two could be meant, nobody is told.
  await using second = await alone(line, cell);
  await second.client.listen();
  await second.client.notify('notifications/vendor/heard', { n: 2 });
  const heard = (): unknown[] => line.logs['one']?.of('heard').map(({ params }) => params) ?? [];
  await eventually(() => heard().length === 2, { what: 'The second notification' });
  // Of a client that does not face it alone, so that nothing on the pipe can be meant for that call.
  await line.client.callTool('one__say');
  const isSecond = ({ params }: { params: JsonObject }): boolean => params['n'] === 2;
  expect([...client.notifications.all, ...second.client.notifications.all].some(isSecond)).toBe(false);
});

verifies('single:hidden', async (cell) => {
  const entries = { one: { tools: { deny: ['add'] } } };
  await using line = await cell.open({ one: ['plain'] }, { ...patient, entries });
  await using first = await alone(line, cell);
  expect(await failureOf(first.client.callTool('add', { a: 1, b: 2 }))).toMatchObject({ code: -32602 });
  expect(line.logs['one']?.of('call').map(({ tool }) => tool)).not.toContain('add');
});

verifies('single:tasks', async (cell) => {
  await using line = await cell.open({ one: ['dialect'] }, patient);
  await using first = await alone(line, cell);
  const { client, opened } = first;
  const isSame = cell.downstream.split('/')[1] === cell.upstream.split('/')[1];
  const { capabilities: offered } = opened as { capabilities: JsonObject };
  const announced = client.era === 'modern' ? offered['extensions'] : offered['tasks'];
  if (!isSame) {
    // Tasks of the two eras are different protocols.
    if (client.era === 'legacy') expect(announced).toBeUndefined();
    expect(await failureOf(client.request('tasks/get', { taskId: 'any' }))).toMatchObject({ code: -32601 });
    return;
  }
  expect(announced).toBeDefined();
  const begun = await client.request('tools/call', { name: 'begin', arguments: {}, task: { ttl: 1000 } });
  const taskId = idOf(begun);
  expect(await client.request('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
  expect(await client.request('tasks/cancel', { taskId })).toMatchObject({ status: 'cancelled' });
  expect(await failureOf(client.request('tasks/get', { taskId: 'none' }))).toMatchObject({
    message: 'No task none here. (-32602)',
  });
});

verifies('tasks:merged', async (cell) => {
  await using line = await cell.open({ one: ['dialect'], two: ['dialect', '--same-ids'] }, patient);
  const { client } = line;
  // What is announced depends on what is known by then.
  for (const name of ['one__begin', 'two__begin']) await untilListed(client, name);
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
  expect(await failureOf(client.request('tasks/get', { taskId: 'none' }))).toMatchObject({ code: -32602 });
});

verifies('tasks:status', async (cell) => {
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
});

verifies('questions:page-done', async (cell) => {
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
});

verifies('downstream:errors:of-the-hop', async (cell) => {
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
});

verifies('questions:bound', async (cell) => {
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
  expect(await failureOf(second.client.request('tools/call', answered))).toMatchObject({ code: -32602 });
  expect(await first.client.request('tools/call', answered)).toHaveProperty('content');
});

function idOf(result: JsonObject): string {
  const task = (result['task'] ?? result) as { taskId?: string };
  expect(task.taskId).toBeTypeOf('string');
  return task.taskId ?? '';
}
