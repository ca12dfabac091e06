import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { MemoryClient } from '../../test/support/memory-client.ts';
import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { Offer } from '../../test/support/memory-gateway.ts';
import { memoryView } from '../../test/support/memory-view.ts';
import { chooseExposure } from '../exposure/choose-exposure.ts';
import { directExposure } from '../exposure/direct-exposure.ts';
import { createSearchExposure } from '../exposure/search-exposure.ts';
import type { Caller } from '../core/caller.ts';
import type { JsonObject } from '../core/json.ts';
import { silentLogger } from '../observability/log.ts';
import { META_KEYS, MODERN_VERSION } from '../protocol/era.ts';
import { HeaderParamCache } from '../protocol/http/param-headers.ts';
import { ListCache } from './methods/list-cache.ts';
import { ParkedCalls } from './questions/parked-calls.ts';
import { createClientSession } from './client-session.ts';
import { SessionExposure } from './session-exposure.ts';

const options = { pin: [], callTools: 'tiers', reveal: true } as const;
const caller: Caller = { id: 'local', via: 'stdio', profile: 'default' };
const changed = 'notifications/tools/list_changed';

test('session exposure: stays the same for a legacy session and follows the catalog for modern clients', () => {
  const searching = createSearchExposure(options);
  let view = memoryView(['a']);
  const session = new SessionExposure(({ tools }) => (tools.length > 1 ? searching : directExposure), {
    get view() {
      return view;
    },
  });
  expect(session.for('legacy')).toBe(directExposure);
  view = memoryView(['a', 'b']);
  expect(session.for('legacy')).toBe(directExposure);
  expect(session.for('modern')).toBe(searching);
});

test('session exposure: is chosen again when the configuration changes', () => {
  let [chosen, version] = [directExposure, 1];
  const view = memoryView(['a']);
  const session = new SessionExposure(() => chosen, {
    view,
    get exposureVersion() {
      return version;
    },
  });
  expect(session.for('legacy')).toBe(directExposure);
  chosen = createSearchExposure(options);
  expect(session.for('legacy')).toBe(directExposure);
  version = 2;
  expect(session.for('legacy')).toBe(chosen);
});

describe('tools revealed by a search', () => {
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

  const lists = new ListCache();
  async function open() {
    memory ??= await MemoryGateway.start({ files: offer });
    const client = new MemoryClient();
    const connection = createClientSession({
      backend: memory.gateway,
      exposure: chooseExposure({ ...options, kind: 'search', directBudget: 0 }),
      caller,
      channel: client,
      lists,
      parked: new ParkedCalls({ ttlMs: 60_000 }),
      headerParams: new HeaderParamCache(),
      log: silentLogger,
      version: '1.2.3',
    });
    const ask = async (method: string, params: JsonObject = {}) => {
      const request = client.request(method, params);
      connection.handleRequest(request);
      const { result } = (await request.answer) as { result: JsonObject };
      return { result, told: request.notifications.map(([told]) => told) };
    };
    return {
      client,
      connection,
      ask,
      names: async (params: JsonObject = {}) =>
        ((await ask('tools/list', params)).result['tools'] as JsonObject[]).slice(5).map(({ name }) => name),
      describe: (tool: string, params: JsonObject = {}) =>
        ask('tools/call', { name: 'describe_tools', arguments: { names: [tool] }, ...params }),
    };
  }

  test('search exposure: lists its tools although no server has been listed', async () => {
    const client = await open();
    if (memory === undefined) throw new Error('There is no gateway.');
    vi.spyOn(memory.gateway, 'whenListed').mockReturnValue(new Promise(() => {}));
    await client.ask('initialize', { protocolVersion: '2025-11-25' });
    expect(await client.names()).toEqual([]);
  });

  test('revealed tools: are announced once before the response and listed for that session only', async () => {
    const [one, other] = [await open(), await open()];
    for (const { ask } of [one, other]) await ask('initialize', { protocolVersion: '2025-11-25' });
    expect(await one.names()).toEqual([]);
    expect((await one.describe('files__read')).told).toEqual([changed]);
    expect((await one.describe('files__read')).told).toEqual([]);
    expect(await one.names()).toEqual(['files__read']);
    expect(await other.names()).toEqual([]);
    expect((await other.describe('files__mail')).told).toEqual([changed]);
    expect(await other.names()).toEqual(['files__mail']);
    expect(await one.names()).toEqual(['files__read']);
  });

  test('revealed tools: are the only ones whose changes are announced', async () => {
    const { ask, describe, names, client, connection } = await open();
    await ask('initialize', { protocolVersion: '2025-11-25' });
    await describe('files__read');
    await names();
    offer.tools = [...tools, { name: 'more' }];
    memory?.server('files').send({ method: changed });
    await vi.waitFor(() => expect(memory?.gateway.view(caller).tools).toHaveLength(3));
    // Longer than the interval in which announcements are batched.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(client.notifications).toEqual([]);
    offer.tools = [{ name: 'read', description: 'Reads two files.' }];
    memory?.server('files').send({ method: changed });
    await vi.waitFor(() => expect(client.notifications).toEqual([[changed, undefined]]));
    connection.close();
  });

  test('revealed tools: do not exist for modern clients', async () => {
    const modern = {
      _meta: {
        [META_KEYS.protocolVersion]: MODERN_VERSION,
        [META_KEYS.clientInfo]: {},
        [META_KEYS.clientCapabilities]: {},
      },
    };
    const { describe, names } = await open();
    expect((await describe('files__read', modern)).told).toEqual([]);
    expect(await names(modern)).toEqual([]);
  });
});
