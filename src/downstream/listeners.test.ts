import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { eventually } from '../../test/support/eventually.ts';

import { MemoryClient } from '../../test/support/memory-client.ts';
import type { MemoryRequest } from '../../test/support/memory-client.ts';
import { MemoryGateway } from '../../test/support/memory-gateway.ts';
import type { Offer } from '../../test/support/memory-gateway.ts';
import { GatewayError } from '../model/errors.ts';
import { META } from '../wire/era.ts';
import { Listeners } from './listeners.ts';

const caller = { id: 'local', via: 'stdio', profile: 'default' } as const;
const everything = { tools: true, prompts: true, resources: true };
const enough = new GatewayError('CALL_CANCELLED', 'enough');

class Fixture {
  readonly offer: Offer = { resources: [{ uri: 'file:a' }, { uri: 'file:b' }], script: () => ({}) };
  readonly client = new MemoryClient();
  listeners!: Listeners;
  memory!: MemoryGateway;

  async start(): Promise<this> {
    this.memory = await MemoryGateway.start({ files: this.offer });
    this.listeners = new Listeners(this.memory.gateway, caller);
    return this;
  }

  listen(notifications?: object): MemoryRequest {
    const request = this.client.request(
      'subscriptions/listen',
      notifications === undefined ? {} : { notifications },
    );
    this.listeners.listen(request);
    return request;
  }

  /** Another tool, prompt and resource; resolves when the gateway has told of all of them. */
  async offerMore(): Promise<void> {
    const told = vi.fn();
    using _ = this.memory.gateway.events.on('changed', told);
    Object.assign(this.offer, {
      tools: [{ name: 'more', inputSchema: { type: 'object' } }],
      prompts: [{ name: 'more' }],
      resources: [...(this.offer.resources ?? []), { uri: 'file:more' }],
    });
    for (const kind of ['tools', 'prompts', 'resources'])
      this.memory.server('files').say({ method: `notifications/${kind}/list_changed` });
    await eventually(() => told.mock.calls.length > 0);
  }

  update(uri: string): void {
    this.memory.server('files').say({ method: 'notifications/resources/updated', params: { uri } });
  }

  /** What the server was asked to watch or to leave. */
  get watched(): readonly string[] {
    return this.memory
      .server('files')
      .heard.flatMap(({ method, params }) =>
        /^resources\/(un)?subscribe$/.test(method ?? '')
          ? [`${method?.slice(10)} ${String(params?.['uri'])}`]
          : [],
      );
  }
}

let fixture: Fixture;
beforeEach(async () => {
  fixture = await new Fixture().start();
});
afterEach(() => fixture.memory[Symbol.asyncDispose]());

describe('a client that subscribes to a resource', () => {
  test('is told of its updates until it unsubscribes', async () => {
    const told = vi.fn();
    await fixture.listeners.subscribe('file:a', told);
    await fixture.listeners.subscribe('file:a', told);
    fixture.update('file:a');
    fixture.update('file:b');
    expect(told).toHaveBeenCalledOnce();
    fixture.listeners.unsubscribe('file:a');
    await vi.waitFor(() => expect(fixture.watched).toEqual(['subscribe file:a', 'unsubscribe file:a']));
    fixture.update('file:a');
    expect(told).toHaveBeenCalledOnce();
  });

  test('is told that there is no such resource, and may ask again', async () => {
    await expect(fixture.listeners.subscribe('file:z', () => {})).rejects.toMatchObject({
      code: 'ENTRY_NOT_FOUND',
    });
    await expect(fixture.listeners.subscribe('file:z', () => {})).rejects.toMatchObject({
      code: 'ENTRY_NOT_FOUND',
    });
  });

  test('is told that the server refuses', async () => {
    fixture.offer.script = () => ({ error: { code: -32601, message: 'no subscriptions' } });
    await expect(fixture.listeners.subscribe('file:a', () => {})).rejects.toThrow('no subscriptions');
  });

  test('leaves nothing behind when it goes away, also in the middle', async () => {
    const told = vi.fn();
    await fixture.listeners.subscribe('file:a', told);
    const pending = fixture.listeners.subscribe('file:b', told);
    fixture.listeners.close();
    await pending;
    await vi.waitFor(() => expect(fixture.watched.filter((each) => each.startsWith('un'))).toHaveLength(2));
    fixture.update('file:a');
    fixture.update('file:b');
    expect(told).not.toHaveBeenCalled();
  });

  test('may unsubscribe before the server has agreed', async () => {
    const told = vi.fn();
    const pending = fixture.listeners.subscribe('file:a', told);
    fixture.listeners.unsubscribe('file:a');
    await pending;
    await vi.waitFor(() => expect(fixture.watched).toEqual(['subscribe file:a', 'unsubscribe file:a']));
    fixture.update('file:a');
    expect(told).not.toHaveBeenCalled();
  });
});

describe('a client that is told of changed lists', () => {
  test('is told until it goes away, and once', () => {
    const told = vi.fn();
    fixture.listeners.announceChanges(told);
    fixture.listeners.announceChanges(told);
    fixture.memory.gateway.events.emit('changed', everything);
    expect(told).toHaveBeenCalledExactlyOnceWith(everything);
    fixture.listeners.close();
    fixture.memory.gateway.events.emit('changed', everything);
    expect(told).toHaveBeenCalledOnce();
  });
});

describe('subscriptions/listen', () => {
  const tag = { _meta: { [META.subscriptionId]: 1 } };

  test('is acknowledged first, with what will be told', () => {
    const request = fixture.listen({ toolsListChanged: true, promptsListChanged: false, unheardOf: true });
    expect(request.told).toEqual([
      ['notifications/subscriptions/acknowledged', { notifications: { toolsListChanged: true }, ...tag }],
    ]);
    expect(request.answers).toBe(0);
  });

  test.each([undefined, null, 5, []])('takes %j for a wish to hear nothing', (notifications) => {
    const request = fixture.listen(notifications as object | undefined);
    fixture.memory.gateway.events.emit('changed', everything);
    expect(request.told).toEqual([
      ['notifications/subscriptions/acknowledged', { notifications: {}, ...tag }],
    ]);
  });

  test('is told what it asked for and nothing else, with its own id', async () => {
    const request = fixture.listen({ toolsListChanged: true, resourcesListChanged: true });
    await fixture.offerMore();
    expect(request.told.slice(1)).toEqual([
      ['notifications/tools/list_changed', tag],
      ['notifications/resources/list_changed', tag],
    ]);
  });

  test('is told of what servers or rules change only if it concerns what this caller sees', async () => {
    const request = fixture.listen({ toolsListChanged: true, resourcesListChanged: true });
    fixture.memory.gateway.events.emit('changed', everything);
    fixture.memory.gateway.events.emit('changed', { ...everything, byRules: true });
    expect(request.told.slice(1)).toEqual([]);
    const rule = { id: 'no', effect: 'deny', who: {}, what: { kinds: ['resource'] } } as const;
    await fixture.memory.change({ files: fixture.offer }, { policy: { default: 'allow', rules: [rule] } });
    await vi.waitFor(() =>
      expect(request.told.slice(1)).toEqual([['notifications/resources/list_changed', tag]]),
    );
  });

  test('is told of updates of its resources, until it is cancelled', async () => {
    const request = fixture.listen({ resourceSubscriptions: ['file:a', 5, 'file:b'] });
    expect(request.told[0]?.[1]).toEqual({
      notifications: { resourceSubscriptions: ['file:a', 'file:b'] },
      ...tag,
    });
    await vi.waitFor(() => expect(fixture.watched).toEqual(['subscribe file:a', 'subscribe file:b']));
    fixture.update('file:a');
    expect(request.told.slice(1)).toEqual([['notifications/resources/updated', { uri: 'file:a', ...tag }]]);
    request.cancellation.cancel(enough);
    await vi.waitFor(() => expect(fixture.watched.filter((each) => each.startsWith('un'))).toHaveLength(2));
    fixture.update('file:a');
    fixture.memory.gateway.events.emit('changed', everything);
    expect(request.told).toHaveLength(2);
    expect(request.answers).toBe(0);
  });

  test('does not mind a resource that is not there, or that the server does not let be watched', async () => {
    fixture.offer.script = () => ({ error: { code: -32601, message: 'no' } });
    const request = fixture.listen({ toolsListChanged: true, resourceSubscriptions: ['file:z', 'file:a'] });
    await fixture.offerMore();
    expect(request.told.map(([method]) => method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ]);
    fixture.listeners.close();
    expect(await request.answer).toEqual({ result: { resultType: 'complete', ...tag } });
  });

  test('lets one resource be watched by several, once', async () => {
    const [one, other] = [
      fixture.listen({ resourceSubscriptions: ['file:a'] }),
      fixture.listen({ resourceSubscriptions: ['file:a'] }),
    ];
    await vi.waitFor(() => expect(fixture.watched).toEqual(['subscribe file:a']));
    await turn();
    one.cancellation.cancel(enough);
    fixture.update('file:a');
    expect(one.told).toHaveLength(1);
    expect(other.told).toHaveLength(2);
  });

  test('is answered when we stop, and then hears nothing', async () => {
    const request = fixture.listen({ toolsListChanged: true });
    fixture.listeners.close();
    fixture.listeners.close();
    expect(await request.answer).toEqual({ result: { resultType: 'complete', ...tag } });
    fixture.memory.gateway.events.emit('changed', everything);
    expect(request.told).toHaveLength(1);
    expect(request.answers).toBe(1);
  });

  test('that was cancelled before holds nothing', async () => {
    const request = fixture.client.request('subscriptions/listen', {
      notifications: { resourceSubscriptions: ['file:a'] },
    });
    request.cancellation.cancel(enough);
    fixture.listeners.listen(request);
    await vi.waitFor(() => expect(fixture.watched).toEqual(['subscribe file:a', 'unsubscribe file:a']));
    fixture.memory.gateway.events.emit('changed', everything);
    fixture.listeners.close();
    expect(request.answers).toBe(0);
  });
});

/** Lets everything happen that has been begun. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
