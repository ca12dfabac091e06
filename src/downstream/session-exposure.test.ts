import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { MemoryClient } from '../../test/support/memory-client.ts';
import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { Offer } from '../../test/support/memory-gateway.ts';
import { memoryView } from '../../test/support/memory-view.ts';
import { chooseExposure } from '../exposure/choose-exposure.ts';
import { direct } from '../exposure/direct.ts';
import { search } from '../exposure/search.ts';
import type { Caller } from '../model/caller.ts';
import type { JsonObject } from '../model/json.ts';
import { silentLogger } from '../observe/log.ts';
import { META, MODERN_VERSION } from '../wire/era.ts';
import { MirroredParams } from '../wire/http/mirrored-params.ts';
import { ListTexts } from './lists.ts';
import { ParkedCalls } from './parked-calls.ts';
import { servePeer } from './serve-peer.ts';
import { SessionExposure } from './session-exposure.ts';

const options = { pin: [], callTools: 'tiers', reveal: true } as const;
const caller: Caller = { id: 'local', via: 'stdio', profile: 'default' };
const changed = 'notifications/tools/list_changed';

test('a session keeps the exposure it began with, and modern clients get that of what there is now', () => {
  const searching = search(options);
  let view = memoryView(['a']);
  const session = new SessionExposure(({ tools }) => (tools.length > 1 ? searching : direct), {
    get view() {
      return view;
    },
  });
  expect(session.for('legacy')).toBe(direct);
  view = memoryView(['a', 'b']);
  expect(session.for('legacy')).toBe(direct);
  expect(session.for('modern')).toBe(searching);
});

test('a session chooses anew when the configuration is another one', () => {
  let [chosen, edition] = [direct, 1];
  const view = memoryView(['a']);
  const session = new SessionExposure(() => chosen, {
    view,
    get edition() {
      return edition;
    },
  });
  expect(session.for('legacy')).toBe(direct);
  chosen = search(options);
  expect(session.for('legacy')).toBe(direct);
  edition = 2;
  expect(session.for('legacy')).toBe(chosen);
});

describe('what a search reveals', () => {
  let memory: MemoryGateway | undefined;
  afterEach(async () => {
    await memory?.[Symbol.asyncDispose]();
    memory = undefined;
  });

  const tools = [
    { name: 'read', description: 'Reads a file.' },
    { name: 'mail', description: 'Sends mail.' },
  ];
  const offer: Offer = {};
  beforeEach(() => void (offer.tools = tools));

  const lists = new ListTexts();
  async function open() {
    memory ??= await MemoryGateway.start({ files: offer });
    const client = new MemoryClient();
    const connection = servePeer({
      gateway: memory.gateway,
      exposure: chooseExposure({ ...options, kind: 'search', directBudget: 0 }),
      caller,
      channel: client,
      lists,
      parked: new ParkedCalls({ ttlMs: 60_000 }),
      mirrored: new MirroredParams(),
      log: silentLogger,
      version: '1.2.3',
    });
    const ask = async (method: string, params: JsonObject = {}) => {
      const request = client.request(method, params);
      connection.request(request);
      const { result } = (await request.answer) as { result: JsonObject };
      return { result, told: request.told.map(([told]) => told) };
    };
    return {
      client,
      connection,
      ask,
      names: async (params: JsonObject = {}) =>
        ((await ask('tools/list', params)).result['tools'] as JsonObject[]).slice(5).map(({ name }) => name),
      search: (query: string, params: JsonObject = {}) =>
        ask('tools/call', { name: 'search_tools', arguments: { query, limit: 1 }, ...params }),
    };
  }

  test('is announced before the answer, once, and listed for that session only', async () => {
    const [one, other] = [await open(), await open()];
    for (const { ask } of [one, other]) await ask('initialize', { protocolVersion: '2025-11-25' });
    expect(await one.names()).toEqual([]);
    expect((await one.search('read a file')).told).toEqual([changed]);
    expect((await one.search('read a file')).told).toEqual([]);
    expect(await one.names()).toEqual(['files__read']);
    expect(await other.names()).toEqual([]);
    expect((await other.search('send mail')).told).toEqual([changed]);
    expect(await other.names()).toEqual(['files__mail']);
    expect(await one.names()).toEqual(['files__read']);
  });

  test('is all whose changes are announced, once the client has listed', async () => {
    const { ask, search: find, names, client, connection } = await open();
    await ask('initialize', { protocolVersion: '2025-11-25' });
    await find('read a file');
    await names();
    offer.tools = [...tools, { name: 'more' }];
    memory?.server('files').say({ method: changed });
    await vi.waitFor(() => expect(memory?.gateway.view(caller).tools).toHaveLength(3));
    // Longer than announcements are gathered.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(client.told).toEqual([]);
    offer.tools = [{ name: 'read', description: 'Reads two files.' }];
    memory?.server('files').say({ method: changed });
    await vi.waitFor(() => expect(client.told).toEqual([[changed, undefined]]));
    connection.close();
  });

  test('is nothing for modern clients, whose lists do not depend on what they did', async () => {
    const modern = {
      _meta: { [META.protocolVersion]: MODERN_VERSION, [META.clientInfo]: {}, [META.clientCapabilities]: {} },
    };
    const { search: find, names } = await open();
    expect((await find('read a file', modern)).told).toEqual([]);
    expect(await names(modern)).toEqual([]);
  });
});
