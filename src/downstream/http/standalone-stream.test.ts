import { describe, expect, it } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { TestRoutes } from '../../../test/support/mcp-routes.ts';

const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

describe('standalone stream', () => {
  it('standalone stream: carries unsolicited notifications, each on one stream only', async () => {
    await using test = await TestRoutes.start();
    const session = await test.session();
    const channel = test.connections[0]!.channel;
    await using older = await test.stream('GET', '/mcp', { headers: session });
    await using newer = await test.stream('GET', '/mcp', { headers: session });
    expect(newer.headers['content-type']).toBe('text/event-stream');
    channel.notify('notifications/resources/updated', { uri: 'a' });
    const { data } = await newer.events.waitFor(() => true);
    expect(JSON.parse(data)).toMatchObject({ params: { uri: 'a' } });
    await newer[Symbol.asyncDispose]();
    await eventually(() => {
      channel.notify('notifications/resources/updated', { uri: 'b' });
      return older.events.all.length > 0;
    });
    expect(older.events.all[0]?.data).toContain('"b"');
  });

  it('standalone stream: starts with missed list changes, once per kind', async () => {
    await using test = await TestRoutes.start();
    const session = await test.session();
    const channel = test.connections[0]!.channel;
    for (let count = 0; count < 3; count++) channel.notify(changed.method, undefined);
    channel.notify('notifications/prompts/list_changed', undefined);
    channel.notify('notifications/message', { lost: true });
    await using stream = await test.stream('GET', '/mcp', { headers: session });
    await stream.events.waitFor(({ data }) => data.includes('prompts'));
    expect(stream.events.all.map(({ data }) => JSON.parse(data).method)).toEqual([
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
    ]);
  });

  it('standalone stream: sends keep-alive comments', async () => {
    await using test = await TestRoutes.start({}, { keepAliveMs: 5 });
    await using stream = await test.stream('GET', '/mcp', { headers: await test.session() });
    await eventually(() => stream.comments.all.length > 2);
    expect(stream.events.all).toEqual([]);
  });

  it('standalone stream: is refused to a client that does not accept events', async () => {
    await using test = await TestRoutes.start();
    const headers = { ...(await test.session()), accept: 'application/json' };
    expect((await test.send('GET', '/mcp', { headers })).status).toBe(406);
  });

  it('standalone stream: closes the oldest of more than four', async () => {
    await using test = await TestRoutes.start();
    const session = await test.session();
    const streams = [];
    for (let count = 0; count < 5; count++)
      streams.push(await test.stream('GET', '/mcp', { headers: session }));
    await streams[0]!.ended;
    expect(streams.map(({ message }) => message.complete)).toEqual([true, false, false, false, false]);
    for (const stream of streams) await stream[Symbol.asyncDispose]();
  });

  it('standalone stream: disconnects a client that exceeds the buffer limit while others continue', async () => {
    await using test = await TestRoutes.start({}, { maxBufferedBytes: 100_000 });
    const [slow, quick] = [await test.session(), await test.session()];
    await using stalled = await test.stream('GET', '/mcp', { headers: slow });
    await using reading = await test.stream('GET', '/mcp', { headers: quick });
    stalled.message.pause();
    const [toStalled, toReading] = test.connections.map(({ channel }) => channel);
    await eventually(() => {
      toStalled?.notify('notifications/message', { text: 'x'.repeat(1_000_000) });
      return test.logged.includes('Disconnected a client that did not read its responses.');
    });
    toReading?.notify('notifications/message', { text: 'still here' });
    await reading.events.waitFor(({ data }) => data.includes('still here'));
    expect(reading.events.all).toHaveLength(1);
  });

  it('standalone stream: disconnects a client that reads nothing for long', async () => {
    await using test = await TestRoutes.start({}, { keepAliveMs: 5 });
    await using stalled = await test.stream('GET', '/mcp', { headers: await test.session() });
    stalled.message.pause();
    test.connections[0]?.channel.notify('notifications/message', { text: 'x'.repeat(8_000_000) });
    await eventually(() => test.logged.length > 0);
    expect(test.logged).toEqual(['Disconnected a client that did not read its responses.']);
  });
});
