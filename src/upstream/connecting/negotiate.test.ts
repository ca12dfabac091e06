import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { MemoryServer } from '../../../test/support/memory-server.ts';
import type { ReceivedMessage, MemoryServerScript } from '../../../test/support/memory-server.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { GatewayError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Era, ServerFacts } from '../../core/server-facts.ts';
import { LEGACY_VERSIONS, META_KEYS, MODERN_VERSION } from '../../protocol/era.ts';
import { RpcClient } from '../../protocol/rpc-client.ts';
import { HttpStatusError } from '../../protocol/client-transport.ts';
import { negotiate } from './negotiate.ts';

const identity = { info: { name: 'us', version: '1' }, capabilities: {} };
const silenceMs = 3000;

const initialized = {
  protocolVersion: '2025-06-18',
  serverInfo: { name: 'old', version: '2' },
  capabilities: { tools: {} },
  instructions: 'Be kind.',
};
const discovered = {
  resultType: 'complete',
  supportedVersions: [MODERN_VERSION],
  capabilities: { tools: { listChanged: true } },
  _meta: { [META_KEYS.serverInfo]: { name: 'new', version: '3' } },
};
const unknownMethod = { error: { code: -32601, message: 'Method not found' } };

class Talk {
  readonly server: MemoryServer;
  readonly cancellation = new Cancellation();

  constructor(script: MemoryServerScript) {
    this.server = new MemoryServer(script);
  }

  async agree(era?: Era): Promise<ServerFacts> {
    const handlers = {
      onRequest: () => Promise.resolve({}),
      onNotification: () => {},
      onInvalidMessage: () => {},
    };
    const peer = await RpcClient.open(this.server.open, handlers);
    return negotiate(peer, identity, { era, cancellation: this.cancellation, probeSilenceMs: silenceMs });
  }
}

function answering(answers: Readonly<Record<string, JsonObject>>): MemoryServerScript {
  return ({ method }) => answers[method ?? ''];
}

/** Without setImmediate: `fetch` calls it when a response of an earlier test in this thread ends, and it would count as a timer. */
const FAKED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const;

beforeEach(() => void vi.useFakeTimers({ toFake: [...FAKED] }));
afterEach(() => void vi.useRealTimers());

describe('modern server', () => {
  test('modern server: is probed once more when it refuses our version but lists it as supported', async () => {
    let probes = 0;
    const refusal = (supported: string[]) => ({
      error: { code: -32022, message: 'No.', data: { supported } },
    });
    const talk = new Talk(() => (probes++ === 0 ? refusal([MODERN_VERSION]) : discovered));
    expect((await talk.agree()).era).toBe('modern');
    expect(probes).toBe(2);
    const stubborn = new Talk(() => refusal([MODERN_VERSION]));
    await expect(stubborn.agree()).rejects.toMatchObject({ body: { code: -32022 } });
  });

  test('modern server: is detected by its response to server/discover', async () => {
    const talk = new Talk(answering({ 'server/discover': discovered }));
    expect(await talk.agree()).toEqual({
      era: 'modern',
      protocol: MODERN_VERSION,
      info: { name: 'new', version: '3' },
      capabilities: { tools: { listChanged: true } },
    });
    expect(talk.server.methods).toEqual(['server/discover']);
    expect(talk.server.received[0]?.params?.['_meta']).toMatchObject({
      [META_KEYS.protocolVersion]: MODERN_VERSION,
    });
    expect(talk.server.agreed).toEqual([{ era: 'modern', protocol: MODERN_VERSION }]);
  });

  test.each([-32020, -32021, -32022])(
    'modern server: is detected by error %i without trying initialize',
    async (code) => {
      const talk = new Talk(
        answering({ 'server/discover': { error: { code, message: 'modern' } }, initialize: initialized }),
      );
      await expect(talk.agree()).rejects.toMatchObject({ body: { code } });
      expect(talk.server.methods).toEqual(['server/discover']);
      expect(talk.server.agreed).toEqual([]);
    },
  );

  test('modern server: is rejected when it supports none of our versions', async () => {
    const talk = new Talk(
      answering({ 'server/discover': { supportedVersions: ['2031-01-01'] }, initialize: initialized }),
    );
    await expect(talk.agree()).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
      message: expect.stringContaining('2031-01-01') as string,
    });
    expect(talk.server.methods).toEqual(['server/discover']);
  });

  test('modern server: is rejected when the era is pinned as modern but the server is legacy', async () => {
    const talk = new Talk(answering({ 'server/discover': unknownMethod, initialize: initialized }));
    await expect(talk.agree('modern')).rejects.toMatchObject({ body: { code: -32601 } });
    expect(talk.server.methods).toEqual(['server/discover']);
  });
});

describe('legacy server', () => {
  test.each([-32601, -32602, -32600, -32000, 0])(
    'legacy server: is detected when it rejects server/discover with %i',
    async (code) => {
      const talk = new Talk(
        answering({ 'server/discover': { error: { code, message: 'what?' } }, initialize: initialized }),
      );
      expect(await talk.agree()).toEqual({
        era: 'legacy',
        protocol: '2025-06-18',
        info: { name: 'old', version: '2' },
        capabilities: { tools: {} },
        instructions: 'Be kind.',
      });
      expect(talk.server.methods).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
      expect(talk.server.agreed).toEqual([{ era: 'legacy', protocol: '2025-06-18' }]);
    },
  );

  test.each([
    ['an unknown result', { ok: true }],
    ['only older versions', { supportedVersions: ['2025-11-25', '2024-11-05'] }],
  ])('legacy server: is detected when it answers server/discover with %s', async (_, answer) => {
    const talk = new Talk(answering({ 'server/discover': answer, initialize: initialized }));
    expect((await talk.agree()).era).toBe('legacy');
  });

  test('legacy server: is not probed when the era is known', async () => {
    const talk = new Talk(answering({ initialize: initialized }));
    expect((await talk.agree('legacy')).era).toBe('legacy');
    expect(talk.server.methods).toEqual(['initialize', 'notifications/initialized']);
  });

  test.each(LEGACY_VERSIONS)('legacy server: may choose protocol version %s', async (protocolVersion) => {
    const talk = new Talk(answering({ initialize: { ...initialized, protocolVersion } }));
    expect((await talk.agree('legacy')).protocol).toBe(protocolVersion);
  });

  test.each(['2023-01-01', MODERN_VERSION, '', 5, undefined])(
    'legacy server: must not choose protocol version %j',
    async (protocolVersion) => {
      const talk = new Talk(answering({ initialize: { ...initialized, protocolVersion } }));
      await expect(talk.agree('legacy')).rejects.toMatchObject({ code: 'UPSTREAM_REFUSED' });
      expect(talk.server.methods).toEqual(['initialize']);
      expect(talk.server.agreed).toEqual([]);
    },
  );

  test.each(['serverInfo', 'capabilities', '_meta'])(
    'legacy server: is refused if its %s is huge',
    async (part) => {
      const huge = { x: Array.from({ length: 10_000 }, () => 1) };
      const talk = new Talk(answering({ initialize: { ...initialized, [part]: huge } }));
      await expect(talk.agree('legacy')).rejects.toMatchObject({ code: 'UPSTREAM_REFUSED' });
    },
  );

  test('legacy server: may omit its name, capabilities and instructions', async () => {
    const talk = new Talk(
      answering({ initialize: { protocolVersion: '2024-11-05', capabilities: null, instructions: 5 } }),
    );
    expect(await talk.agree('legacy')).toEqual({
      era: 'legacy',
      protocol: '2024-11-05',
      info: { name: 'unknown', version: '0' },
      capabilities: {},
    });
  });
});

describe('silent server', () => {
  /** Waits until the server was asked, so that its answers can be given in any order. */
  async function silent(
    script: MemoryServerScript = () => undefined,
  ): Promise<{ talk: Talk; agreement: Promise<ServerFacts> }> {
    const talk = new Talk(script);
    const agreement = talk.agree();
    agreement.catch(() => {});
    await vi.advanceTimersByTimeAsync(silenceMs - 1);
    expect(talk.server.methods).toEqual(['server/discover']);
    await vi.advanceTimersByTimeAsync(1);
    expect(talk.server.methods.slice(0, 2)).toEqual(['server/discover', 'initialize']);
    return { talk, agreement };
  }

  test('silent server: receives initialize too and counts as legacy if it answers that', async () => {
    const { talk, agreement } = await silent(answering({ initialize: initialized }));
    expect((await agreement).era).toBe('legacy');
    // No timer is left that would send anything later.
    await vi.advanceTimersByTimeAsync(120_000);
    expect(talk.server.methods).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
  });

  test('silent server: counts as modern if it answers the probe late, and initialize is ignored', async () => {
    const { talk, agreement } = await silent();
    answer(talk, 'server/discover', discovered);
    expect((await agreement).era).toBe('modern');
    answer(talk, 'initialize', initialized);
    await vi.advanceTimersByTimeAsync(10);
    expect(talk.server.agreed).toEqual([{ era: 'modern', protocol: MODERN_VERSION }]);
    expect(talk.server.methods).not.toContain('notifications/initialized');
  });

  test('silent server: stays legacy when the probe is answered after initialize', async () => {
    const { talk, agreement } = await silent();
    answer(talk, 'initialize', initialized);
    expect((await agreement).era).toBe('legacy');
    answer(talk, 'server/discover', discovered);
    await vi.advanceTimersByTimeAsync(10);
    expect(talk.server.agreed).toEqual([{ era: 'legacy', protocol: '2025-06-18' }]);
  });

  test('silent server: gets exactly one era when both responses arrive together', async () => {
    const { talk, agreement } = await silent();
    answer(talk, 'server/discover', discovered);
    answer(talk, 'initialize', initialized);
    const { era } = await agreement;
    await vi.advanceTimersByTimeAsync(10);
    expect(talk.server.agreed.map((agreed) => agreed.era)).toEqual([era]);
    expect(talk.server.methods.includes('notifications/initialized')).toBe(era === 'legacy');
  });

  test('silent server: is rejected with its initialize error when it refuses both', async () => {
    const { talk, agreement } = await silent();
    answer(talk, 'server/discover', unknownMethod);
    answer(talk, 'initialize', { error: { code: -32000, message: 'no key' } });
    await expect(agreement).rejects.toThrow('no key');
  });

  test('silent server: can be cancelled', async () => {
    const { talk, agreement } = await silent();
    talk.cancellation.cancel(new GatewayError('UPSTREAM_UNAVAILABLE', 'not ready in time'));
    await expect(agreement).rejects.toThrow('not ready in time');
  });
});

describe('undecided era', () => {
  test.each([401, 403, 408, 429, 500, 502, 503])(
    'era detection: fails on HTTP %i without trying initialize',
    async (status) => {
      const talk = new Talk(failing(new HttpStatusError(status, {}, '')));
      await expect(talk.agree()).rejects.toMatchObject({ status });
      expect(talk.server.methods).toEqual(['server/discover']);
    },
  );

  test('era detection: fails when the connection ends without trying initialize', async () => {
    const talk = new Talk((_, server) => {
      queueMicrotask(() => server.crash(new Error('gone')));
      return undefined;
    });
    await expect(talk.agree()).rejects.toThrow('gone');
    expect(talk.server.methods).toEqual(['server/discover']);
  });

  test('era detection: fails when cancelled without trying initialize', async () => {
    const talk = new Talk(() => undefined);
    const agreement = talk.agree();
    talk.cancellation.cancel(new GatewayError('SHUTTING_DOWN', 'stopping'));
    await expect(agreement).rejects.toThrow('stopping');
    expect(talk.server.methods).not.toContain('initialize');
  });

  test.each([400, 404, 405])('era detection: treats HTTP %i as a legacy server', async (status) => {
    const talk = new Talk((heard, server) =>
      heard.method === 'server/discover'
        ? failing(new HttpStatusError(status, {}, ''))(heard, server)
        : initialized,
    );
    expect((await talk.agree()).era).toBe('legacy');
  });
});

function answer(talk: Talk, method: string, result: JsonObject): void {
  const { id } = talk.server.last(method);
  talk.server.send('error' in result ? { id, ...result } : { id, result });
}

function failing(error: Error): MemoryServerScript {
  return ({ id }: ReceivedMessage, server) => {
    queueMicrotask(() => server.fail(Number(id), error));
    return undefined;
  };
}
