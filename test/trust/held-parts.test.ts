import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { failureOf, ownCode, said, untilListed } from '../support/asking.ts';
import { eventually } from '../support/eventually.ts';
import { fixture, fixtureLog } from '../support/fixture.ts';
import { startGateway } from '../support/gateway.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { RawClient } from '../support/raw-client.ts';
import type { JsonObject } from '../support/raw-messages.ts';
import { httpTransport } from '../support/raw-transports.ts';
import { temporaryFolder } from '../support/test-run.ts';

checkLeaks();

const config = { startup: { listWait: '10s' } };
/** Of the words that nobody approved. */
const ANEW = 'Worded anew';
const approvals = 'trunkline approvals';

/** Where clients find the server: among all, and by itself. */
const PLACES = [
  ['among all servers', '', 'one__'],
  ['at its own path', '/s/one', ''],
] as const;

async function clientAt(url: string): Promise<RawClient> {
  const client = await RawClient.over(httpTransport(url), {});
  await client.open();
  return client;
}

const completion = (name: string): JsonObject => ({
  ref: { type: 'ref/prompt', name },
  argument: { name: 'who', value: 'A' },
});

describe.each(PLACES)('%s', (_, path, prefix) => {
  test('a prompt whose words have changed is not listed, given, completed or told of', async () => {
    const entry = fixture('changes-its-words');
    await using gateway = await startGateway({ mcpServers: { one: entry }, config, listen: 'http' });
    await using client = await clientAt(`${gateway.url}${path}`);
    const prompts = async (): Promise<string> => JSON.stringify(await client.request('prompts/list'));
    await untilListed(client, `${prefix}change`);
    const named = { name: `${prefix}worded` };
    expect(JSON.stringify(await client.request('prompts/get', named))).toContain('Prompted.');
    const complete = client.request('completion/complete', completion(named.name));
    expect(await complete).toMatchObject({ completion: { values: ['Ada'] } });
    const heard = () => fixtureLog(entry).of('prompt').length + fixtureLog(entry).of('complete').length;
    const before = heard();
    await client.callTool(`${prefix}change`);
    await eventually(async () => expect(await prompts()).not.toContain('worded'));
    const given = await failureOf(client.request('prompts/get', named));
    const completed = await failureOf(client.request('completion/complete', completion(named.name)));
    for (const failure of [given, completed]) {
      expect(failure.message).toContain(approvals);
      expect(JSON.stringify(failure)).not.toContain(ANEW);
    }
    expect(await prompts()).not.toContain(ANEW);
    expect(heard()).toBe(before);
  });

  test('instructions that have changed are not said, and those that were approved are', async () => {
    const file = join(temporaryFolder(), 'revision');
    const mcpServers = { one: fixture('changes-its-words', '--revision-file', file) };
    const home = temporaryFolder('trunkline-home');
    const opening = async (url: string): Promise<string> => {
      await using client = await RawClient.over(httpTransport(url), {});
      const opened = JSON.stringify(await client.open());
      await untilListed(client, `${prefix}change`);
      return opened;
    };
    const serve = async (): Promise<string> => {
      await using gateway = await startGateway({ mcpServers, config, home, listen: 'http' });
      await opening(`${gateway.url}${path}`);
      // The second client meets what the server has said by now.
      return await opening(`${gateway.url}${path}`);
    };
    const first = await serve();
    // Among all, servers are introduced where tools are searched; by itself each says its own words.
    if (prefix === '') expect(first).toContain('Worded as approved');
    writeFileSync(file, '2');
    const second = await serve();
    expect(second).not.toContain(ANEW);
    if (prefix === '') expect(second).toContain('Worded as approved');
  });

  test('nothing of a server that waits for a person is read, completed or asked', async () => {
    const entry = fixture('changes-its-words');
    const mcpServers = { one: { ...entry, trust: 'manual' } };
    await using gateway = await startGateway({ mcpServers, config, listen: 'http' });
    await using client = await clientAt(`${gateway.url}${path}`);
    const template = {
      ref: { type: 'ref/resource', uri: 'fixture://item/{id}' },
      argument: { name: 'id', value: '1' },
    };
    for (const [method, params] of [
      ['resources/read', { uri: 'fixture://text' }],
      ['resources/subscribe', { uri: 'fixture://text' }],
      ['completion/complete', template],
      ['completion/complete', completion(`${prefix}worded`)],
      ['prompts/get', { name: `${prefix}worded` }],
    ] as const)
      await failureOf(client.request(method, params));
    expect(ownCode(await client.callTool(`${prefix}change`))).toBe('QUARANTINED');
    for (const list of ['prompts', 'resources', 'resources/templates'])
      expect(JSON.stringify(await client.request(`${list}/list`).catch(String))).not.toContain('worded');
    expect(fixtureLog(entry).of('started')).toEqual([]);
  });
});

test('what a server never listed cannot be used at its own path, although nothing of it is held', async () => {
  const entry = fixture('changes-its-words');
  await using gateway = await startGateway({ mcpServers: { one: entry }, config, listen: 'http' });
  await using client = await clientAt(`${gateway.url}/s/one`);
  await untilListed(client, 'change');
  expect(said(await client.callTool('change'))).toBe('2');
  const calls = () => fixtureLog(entry).of('call').length + fixtureLog(entry).of('prompt').length;
  const before = calls();
  for (const [method, params] of [
    ['tools/call', { name: 'unlisted', arguments: {} }],
    // A lenient server would take it for the name.
    ['tools/call', { name: ['unlisted'], arguments: {} }],
    ['prompts/get', { name: 'unlisted' }],
    ['completion/complete', completion('unlisted')],
    ['tools/list', { cursor: 'more' }],
  ] as const) {
    const answer = await client.request(method, params).catch((error: unknown) => error);
    const isRefused = answer instanceof Error || (answer as JsonObject)['isError'] === true;
    expect([method, isRefused]).toEqual([method, true]);
  }
  expect(calls()).toBe(before);
});
