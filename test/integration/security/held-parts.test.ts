import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { rpcErrorOf, gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { readAdminKey } from '../../support/dashboard-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { sendRequest } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { httpTransport } from '../../support/raw-transports.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const config = { startup: { listWait: '60s' } };
/** Occurs only in the texts that were not approved. */
const ANEW = 'Worded anew';
const approvals = 'trunkline approvals';

/** The paths at which clients reach the server: the shared one, and its own. */
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
  test('changed prompt: is not listed, returned or completed', async () => {
    const entry = fixture('changes-its-words');
    await using gateway = await startGateway({ mcpServers: { one: entry }, config, listen: 'http' });
    await using client = await clientAt(`${gateway.url}${path}`);
    const prompts = async (): Promise<string> => JSON.stringify(await client.request('prompts/list'));
    await waitForTool(client, `${prefix}change`);
    const named = { name: `${prefix}worded` };
    expect(JSON.stringify(await client.request('prompts/get', named))).toContain('Prompted.');
    const complete = client.request('completion/complete', completion(named.name));
    expect(await complete).toMatchObject({ completion: { values: ['Ada'] } });
    const heard = () => fixtureLog(entry).of('prompt').length + fixtureLog(entry).of('complete').length;
    const before = heard();
    await client.callTool(`${prefix}change`);
    await eventually(async () => expect(await prompts()).not.toContain('worded'));
    const given = await rpcErrorOf(client.request('prompts/get', named));
    const completed = await rpcErrorOf(client.request('completion/complete', completion(named.name)));
    for (const failure of [given, completed]) {
      expect(failure.message).toContain(approvals);
      expect(JSON.stringify(failure)).not.toContain(ANEW);
    }
    expect(await prompts()).not.toContain(ANEW);
    expect(heard()).toBe(before);
  });

  test('changed instructions: are withheld in favour of the approved ones', async () => {
    const file = join(temporaryFolder(), 'revision');
    const mcpServers = { one: fixture('changes-its-words', '--revision-file', file) };
    const home = temporaryFolder('trunkline-home');
    // At the shared path, the search exposure describes the servers.
    const args = prefix === '' ? ['--expose', 'direct'] : ['--expose', 'search'];
    const serve = async (isKnown: (gateway: RunningGateway) => Promise<unknown>): Promise<string> => {
      await using gateway = await startGateway({ mcpServers, config, home, args, listen: 'http' });
      await eventually(() => isKnown(gateway));
      await using client = await RawClient.over(httpTransport(`${gateway.url}${path}`), {});
      return JSON.stringify(await client.open());
    };
    const first = await serve(async ({ url }) => {
      await using client = await clientAt(`${url}${path}`);
      expect(JSON.stringify(await client.request('prompts/list'))).toContain(`${prefix}worded`);
    });
    expect(first).toContain('Worded as approved');
    writeFileSync(file, '2');
    const second = await serve(async ({ url }) => {
      await using client = await clientAt(`${url}${path}`);
      await client.request('prompts/list');
      const { text } = await sendRequest(new URL('/api/approvals', url), { key: readAdminKey(home) });
      expect(text).toContain('"kind":"words"');
    });
    expect(second).not.toContain(ANEW);
    expect(second).toContain('Worded as approved');
  });

  test('held server: is not started, read, completed or called', async () => {
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
      await rpcErrorOf(client.request(method, params));
    expect(gatewayErrorCode(await client.callTool(`${prefix}change`))).toBe('QUARANTINED');
    for (const list of ['prompts', 'resources', 'resources/templates'])
      expect(JSON.stringify(await client.request(`${list}/list`).catch(String))).not.toContain('worded');
    expect(fixtureLog(entry).of('started')).toEqual([]);
  });
});

test.each(['legacy', 'modern'] as const)(
  "changed server info: no text of it reaches a %s client of the server's own path before approval",
  async (era) => {
    const file = join(temporaryFolder(), 'revision');
    const mcpServers = { one: fixture('changes-its-words', '--revision-file', file, '--info') };
    const home = temporaryFolder('trunkline-home');
    const serve = async (revision: string, isShown: (text: string) => void): Promise<void> => {
      writeFileSync(file, revision);
      await using gateway = await startGateway({ mcpServers, config, home, listen: 'http' });
      await using client = await RawClient.over(httpTransport(`${gateway.url}/s/one`), { era });
      await eventually(async () => {
        const { text } = await sendRequest(new URL('/api/approvals', gateway.url), {
          key: readAdminKey(home),
        });
        expect(text.includes('"kind":"words"')).toBe(revision !== '1');
        await using listed = await clientAt(`${gateway.url}/s/one`);
        expect(JSON.stringify(await listed.request('tools/list'))).toContain('"change"');
      });
      isShown(JSON.stringify([await client.open(), await client.request('tools/list')]));
    };
    await serve('1', (text) => expect(text).toMatch(/"description":"Worded as approved.*"websiteUrl"/));
    await serve('2', (text) => {
      expect(text).not.toContain(ANEW);
      expect(text).not.toContain(encodeURIComponent(ANEW));
      expect(text).toMatch(/"description":"Worded as approved/);
    });
  },
);

test('unlisted entry: cannot be used at the path of its server', async () => {
  const entry = fixture('changes-its-words');
  await using gateway = await startGateway({ mcpServers: { one: entry }, config, listen: 'http' });
  await using client = await clientAt(`${gateway.url}/s/one`);
  await waitForTool(client, 'change');
  expect(textOfResult(await client.callTool('change'))).toBe('2');
  const calls = () => fixtureLog(entry).of('call').length + fixtureLog(entry).of('prompt').length;
  const before = calls();
  for (const [method, params] of [
    ['tools/call', { name: 'unlisted', arguments: {} }],
    // A lenient server would convert the array to the name.
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
