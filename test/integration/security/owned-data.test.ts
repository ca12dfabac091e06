import { expect, test } from 'vitest';

import { rpcErrorOf, gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { fixture, fixtureLog, startHttpFixture } from '../../support/fixture.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import { startGatewayWithAuth } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import type { JsonObject, RawClientOptions } from '../../support/raw-messages.ts';
import { httpTransport } from '../../support/raw-transports.ts';

checkLeaks();

const forwarded = { from: ['127.0.0.1', '::1'], user: 'X-User', groups: 'X-Groups' };
const config = { auth: { forwarded }, startup: { listWait: '60s' } };
const noSuchTask = { code: -32602, message: 'There is no such task. (-32602)' };

/** Opens a client of a user at a path below the shared one. */
async function clientOf(
  gateway: RunningGateway,
  identity: { readonly user: string; readonly groups?: string; readonly path?: string },
  options: RawClientOptions = {},
): Promise<RawClient> {
  const { user, groups = 'staff', path = '' } = identity;
  const headers = { 'x-user': user, 'x-groups': groups };
  const client = await RawClient.over(httpTransport(`${gateway.url}${path}`, headers), options);
  await client.open();
  return client;
}

async function beginTask(client: RawClient, name: string): Promise<string> {
  const { task } = await client.request('tools/call', { name, arguments: {}, task: { ttl: 60_000 } });
  return String((task as JsonObject)['taskId']);
}

test('task owner: survives a restart, so that another caller can neither follow, cancel nor list the task', async () => {
  await using server = await startHttpFixture('dialect');
  const options = { mcpServers: { one: { url: server.url } } };
  await using first = await startGatewayWithAuth(config, options);
  const before = await clientOf(first, { user: 'anna' });
  await waitForTool(before, 'one__begin');
  const taskId = await beginTask(before, 'one__begin');
  await before.close();
  await first.stop();

  await using second = await startGatewayWithAuth(config, { ...options, home: first.home });
  const anna = await clientOf(second, { user: 'anna' });
  const annaAlone = await clientOf(second, { user: 'anna', path: '/s/one' });
  const bert = await clientOf(second, { user: 'bert' });
  const bertAlone = await clientOf(second, { user: 'bert', path: '/s/one' });
  await waitForTool(anna, 'one__begin');
  for (const client of [bert, bertAlone])
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      expect(await rpcErrorOf(client.request(method, { taskId })), method).toMatchObject(noSuchTask);
  expect(await rpcErrorOf(bertAlone.request('tasks/delete', { taskId }))).toMatchObject(noSuchTask);
  expect(await bertAlone.request('tasks/list')).toMatchObject({ tasks: [] });
  expect(await annaAlone.request('tasks/list')).toMatchObject({ tasks: [{ taskId }] });
  for (const client of [anna, annaAlone])
    expect(await client.request('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
  for (const client of [anna, annaAlone, bert, bertAlone]) await client.close();
});

test('task owner: a caller with a task of the same id at another server cannot follow the task of others', async () => {
  const one = fixture('dialect', '--same-ids');
  const two = fixture('dialect', '--same-ids');
  await using gateway = await startGatewayWithAuth(config, { mcpServers: { one, two } });
  const anna = await clientOf(gateway, { user: 'anna' });
  const bert = await clientOf(gateway, { user: 'bert' });
  const bertAlone = await clientOf(gateway, { user: 'bert', path: '/s/one' });
  for (const name of ['one__begin', 'two__begin']) await waitForTool(anna, name);
  expect([await beginTask(anna, 'one__begin'), await beginTask(bert, 'two__begin')]).toEqual([
    'task-1',
    'task-1',
  ]);
  for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
    expect(await rpcErrorOf(bertAlone.request(method, { taskId: 'task-1' })), method).toMatchObject(
      noSuchTask,
    );
  const requests = fixtureLog(one).of('request');
  expect(requests.filter(({ method }) => String(method).startsWith('tasks/'))).toEqual([]);
  for (const client of [anna, bert, bertAlone]) await client.close();
});

test('owned data: results and tasks are hidden from the same user with other groups', async () => {
  const mcpServers = { one: fixture('big-results'), two: fixture('dialect') };
  const args = ['--expose', 'search'];
  const limited = { ...config, results: { maxTokens: 2_000 } };
  await using gateway = await startGatewayWithAuth(limited, { mcpServers, args });
  const staff = await clientOf(gateway, { user: 'anna' });
  const again = await clientOf(gateway, { user: 'anna' });
  const guest = await clientOf(gateway, { user: 'anna', groups: 'guests' });
  const guestAlone = await clientOf(gateway, { user: 'anna', groups: 'guests', path: '/s/two' });
  await waitForTool(staff, 'call_read_tool');
  const cut = await staff.callTool('call_read_tool', { name: 'one__lines', arguments: { count: 3_000 } });
  const id = (cut._meta?.['trunkline/result'] as { id: string } | undefined)?.id;
  expect(id).toBeTypeOf('string');
  expect(gatewayErrorCode(await guest.callTool('read_result', { id }))).toBe('ENTRY_NOT_FOUND');
  expect(textOfResult(await again.callTool('read_result', { id }))).toContain('line 0');

  const taskId = await beginTask(staff, 'two__begin');
  for (const client of [guest, guestAlone])
    expect(await rpcErrorOf(client.request('tasks/get', { taskId }))).toMatchObject(noSuchTask);
  expect(await guestAlone.request('tasks/list')).toMatchObject({ tasks: [] });
  expect(await again.request('tasks/get', { taskId })).toMatchObject({ taskId });
  for (const client of [staff, again, guest, guestAlone]) await client.close();
});

test('owned data: a parked call cannot be continued by the same user with other groups', async () => {
  await using gateway = await startGatewayWithAuth(config, { mcpServers: { one: fixture('asks-the-user') } });
  const options: RawClientOptions = { era: 'modern', capabilities: { elicitation: { form: {}, url: {} } } };
  const staff = await clientOf(gateway, { user: 'anna' }, options);
  const guest = await clientOf(gateway, { user: 'anna', groups: 'guests' }, options);
  await waitForTool(staff, 'one__ask-form');
  const params = { name: 'one__ask-form', arguments: { mark: 'm' } };
  const asked = await staff.request('tools/call', params);
  expect(asked).toMatchObject({ resultType: 'input_required' });
  const answer = { action: 'accept', content: { name: 'Ada' } };
  const inputResponses = Object.fromEntries(
    Object.keys(asked['inputRequests'] as object).map((key) => [key, answer]),
  );
  const answered = { ...params, inputResponses, requestState: asked['requestState'] };
  expect(await rpcErrorOf(guest.request('tools/call', answered))).toMatchObject({ code: -32602 });
  expect(await staff.request('tools/call', answered)).toHaveProperty('content');
  for (const client of [staff, guest]) await client.close();
});

test('owned data: a server per session is not shared by the same user with other groups', async () => {
  const one = { ...fixture('plain'), share: 'session' };
  await using gateway = await startGatewayWithAuth(config, { mcpServers: { one } });
  const options: RawClientOptions = { era: 'modern' };
  const staff = await clientOf(gateway, { user: 'anna' }, options);
  const again = await clientOf(gateway, { user: 'anna' }, options);
  const guest = await clientOf(gateway, { user: 'anna', groups: 'guests' }, options);
  await waitForTool(staff, 'one__echo');
  const started = (): number => fixtureLog(one).of('started').length;
  for (const client of [staff, again]) await client.callTool('one__echo', { text: 'x' });
  const before = started();
  await guest.callTool('one__echo', { text: 'x' });
  expect(started()).toBe(before + 1);
  for (const client of [staff, again, guest]) await client.close();
});
