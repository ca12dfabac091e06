import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';

import { MemoryClient } from '../../../test/support/memory-client.ts';
import type { MemoryRequest } from '../../../test/support/memory-client.ts';
import { MemoryGateway } from '../../../test/support/memory-gateway.ts';
import type { Offer } from '../../../test/support/memory-gateway.ts';
import { GatewayError } from '../../core/errors.ts';
import { META_KEYS } from '../../protocol/era.ts';
import { ClientSubscriptions } from './client-subscriptions.ts';

const caller = { id: 'local', via: 'stdio', profile: 'default' } as const;
const everything = { tools: true, prompts: true, resources: true };
const enough = new GatewayError('CALL_CANCELLED', 'enough');

class Fixture {
  readonly offer: Offer = { resources: [{ uri: 'file:a' }, { uri: 'file:b' }], script: () => ({}) };
  readonly client = new MemoryClient();
  listeners!: ClientSubscriptions;
  memory!: MemoryGateway;

  async start(): Promise<this> {
    this.memory = await MemoryGateway.start({ files: this.offer });
    this.listeners = new ClientSubscriptions(this.memory.gateway, caller);
    return this;
  }

  listen(notifications?: object): MemoryRequest {
    const request = this.client.request(
      'subscriptions/listen',
      notifications === undefined ? {} : { notifications },
    );
    void this.listeners.listen(request);
    return request;
  }

  /** Adds a tool, a prompt and a resource; resolves when the gateway has announced the change. */
  async offerMore(): Promise<void> {
    const told = vi.fn();
    using _ = this.memory.gateway.events.on('changed', told);
    Object.assign(this.offer, {
      tools: [{ name: 'more', inputSchema: { type: 'object' } }],
      prompts: [{ name: 'more' }],
      resources: [...(this.offer.resources ?? []), { uri: 'file:more' }],
    });
    for (const kind of ['tools', 'prompts', 'resources'])
      this.memory.server('files').send({ method: `notifications/${kind}/list_changed` });
    await eventually(() => told.mock.calls.length > 0);
  }

  update(uri: string): void {
    this.memory.server('files').send({ method: 'notifications/resources/updated', params: { uri } });
  }

  /** Subscribe and unsubscribe requests that the server received. */
  get watched(): readonly string[] {
    return this.memory
      .server('files')
      .received.flatMap(({ method, params }) =>
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

describe('resource subscription', () => {
  test('resource subscription: delivers updates until the client unsubscribes', async () => {
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

  test('resource subscription: rejects an unknown resource each time', async () => {
    await expect(fixture.listeners.subscribe('file:z', () => {})).rejects.toMatchObject({
      code: 'ENTRY_NOT_FOUND',
    });
    await expect(fixture.listeners.subscribe('file:z', () => {})).rejects.toMatchObject({
      code: 'ENTRY_NOT_FOUND',
    });
  });

  test('resource subscription: passes on the refusal of the server', async () => {
    fixture.offer.script = () => ({ error: { code: -32601, message: 'no subscriptions' } });
    await expect(fixture.listeners.subscribe('file:a', () => {})).rejects.toThrow('no subscriptions');
  });

  test('resource subscription: is removed when the client leaves, even before the server has confirmed', async () => {
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

  test('resource subscription: can be cancelled before the server has confirmed', async () => {
    const told = vi.fn();
    const pending = fixture.listeners.subscribe('file:a', told);
    fixture.listeners.unsubscribe('file:a');
    await pending;
    await vi.waitFor(() => expect(fixture.watched).toEqual(['subscribe file:a', 'unsubscribe file:a']));
    fixture.update('file:a');
    expect(told).not.toHaveBeenCalled();
  });
});

describe('list change listener', () => {
  test('list change listener: is called once per change until the client leaves', () => {
    const told = vi.fn();
    fixture.listeners.onListsChanged(told);
    fixture.listeners.onListsChanged(told);
    fixture.memory.gateway.events.emit('changed', everything);
    expect(told).toHaveBeenCalledExactlyOnceWith(everything);
    fixture.listeners.close();
    fixture.memory.gateway.events.emit('changed', everything);
    expect(told).toHaveBeenCalledOnce();
  });
});

describe('subscriptions/listen', () => {
  const tag = { _meta: { [META_KEYS.subscriptionId]: 1 } };

  test('subscriptions/listen: acknowledges what it will deliver first', () => {
    const request = fixture.listen({ toolsListChanged: true, promptsListChanged: false, unheardOf: true });
    expect(request.notifications).toEqual([
      ['notifications/subscriptions/acknowledged', { notifications: { toolsListChanged: true }, ...tag }],
    ]);
    expect(request.answers).toBe(0);
  });

  test.each([undefined, null, 5, []])(
    'subscriptions/listen: treats the filter %j as empty',
    (notifications) => {
      const request = fixture.listen(notifications as object | undefined);
      fixture.memory.gateway.events.emit('changed', everything);
      expect(request.notifications).toEqual([
        ['notifications/subscriptions/acknowledged', { notifications: {}, ...tag }],
      ]);
    },
  );

  test('subscriptions/listen: delivers only the requested notifications, with its subscription id', async () => {
    const request = fixture.listen({ toolsListChanged: true, resourcesListChanged: true });
    await fixture.offerMore();
    expect(request.notifications.slice(1)).toEqual([
      ['notifications/tools/list_changed', tag],
      ['notifications/resources/list_changed', tag],
    ]);
  });

  test('subscriptions/listen: announces only changes that affect what the caller sees', async () => {
    const request = fixture.listen({ toolsListChanged: true, resourcesListChanged: true });
    fixture.memory.gateway.events.emit('changed', everything);
    fixture.memory.gateway.events.emit('changed', { ...everything, isPolicyChange: true });
    expect(request.notifications.slice(1)).toEqual([]);
    const rule = { id: 'no', effect: 'deny', who: {}, what: { kinds: ['resource'] } } as const;
    await fixture.memory.change({ files: fixture.offer }, { policy: { default: 'allow', rules: [rule] } });
    await vi.waitFor(() =>
      expect(request.notifications.slice(1)).toEqual([['notifications/resources/list_changed', tag]]),
    );
  });

  test('subscriptions/listen: delivers resource updates until it is cancelled', async () => {
    const request = fixture.listen({ resourceSubscriptions: ['file:a', 5, 'file:b'] });
    expect(request.notifications[0]?.[1]).toEqual({
      notifications: { resourceSubscriptions: ['file:a', 'file:b'] },
      ...tag,
    });
    await vi.waitFor(() => expect(fixture.watched).toEqual(['subscribe file:a', 'subscribe file:b']));
    fixture.update('file:a');
    expect(request.notifications.slice(1)).toEqual([
      ['notifications/resources/updated', { uri: 'file:a', ...tag }],
    ]);
    request.cancellation.cancel(enough);
    await vi.waitFor(() => expect(fixture.watched.filter((each) => each.startsWith('un'))).toHaveLength(2));
    fixture.update('file:a');
    fixture.memory.gateway.events.emit('changed', everything);
    expect(request.notifications).toHaveLength(2);
    expect(request.answers).toBe(0);
  });

  test('subscriptions/listen: tolerates resources that are missing or cannot be subscribed to', async () => {
    fixture.offer.script = () => ({ error: { code: -32601, message: 'no' } });
    const request = fixture.listen({ toolsListChanged: true, resourceSubscriptions: ['file:z', 'file:a'] });
    await fixture.offerMore();
    expect(request.notifications.map(([method]) => method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ]);
    fixture.listeners.close();
    expect(await request.answer).toEqual({ result: { resultType: 'complete', ...tag } });
  });

  test('subscriptions/listen: shares one upstream subscription among several listeners', async () => {
    const [one, other] = [
      fixture.listen({ resourceSubscriptions: ['file:a'] }),
      fixture.listen({ resourceSubscriptions: ['file:a'] }),
    ];
    await vi.waitFor(() => expect(fixture.watched).toEqual(['subscribe file:a']));
    await turn();
    one.cancellation.cancel(enough);
    fixture.update('file:a');
    expect(one.notifications).toHaveLength(1);
    expect(other.notifications).toHaveLength(2);
  });

  test('subscriptions/listen: is answered on close and delivers nothing afterwards', async () => {
    const request = fixture.listen({ toolsListChanged: true });
    fixture.listeners.close();
    fixture.listeners.close();
    expect(await request.answer).toEqual({ result: { resultType: 'complete', ...tag } });
    fixture.memory.gateway.events.emit('changed', everything);
    expect(request.notifications).toHaveLength(1);
    expect(request.answers).toBe(1);
  });

  test('subscriptions/listen: holds nothing when it was cancelled before', async () => {
    const request = fixture.client.request('subscriptions/listen', {
      notifications: { resourceSubscriptions: ['file:a'] },
    });
    request.cancellation.cancel(enough);
    void fixture.listeners.listen(request);
    await vi.waitFor(() => expect(fixture.watched).toEqual(['subscribe file:a', 'unsubscribe file:a']));
    fixture.memory.gateway.events.emit('changed', everything);
    fixture.listeners.close();
    expect(request.answers).toBe(0);
  });
});

/** Waits for pending callbacks. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
