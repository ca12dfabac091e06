import { expect, onTestFinished, test, vi } from 'vitest';

import { readServerSentEvents } from '../read-server-sent-events.ts';
import { EventHub } from './event-hub.ts';
import type { EventHubOptions } from './event-hub.ts';

function createHub(options: Partial<EventHubOptions> = {}) {
  const watched: string[] = [];
  const hub = new EventHub({
    version: '1',
    startedAt: 36,
    ...options,
    watch: () => {
      watched.push('begin');
      return { [Symbol.dispose]: () => void watched.push('end') };
    },
  });
  onTestFinished(() => hub[Symbol.dispose]());
  const isAllowed = (): boolean => true;
  const emitGone = (name: string): void => hub.emit({ event: 'server-gone', data: { name } });
  return { hub, watched, emitGone, open: (lastId?: string) => hub.open({ lastId, isAllowed }) };
}

/** Reads the next `count` buffered events of a stream as `event data`. */
async function next(stream: ReadableStream<Uint8Array>, count: number): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { event, data } of readServerSentEvents(stream)) {
    found.push(`${event} ${data}`);
    if (found.length === count) break;
  }
  return found;
}

const HELLO = 'hello {"version":"1","since":36}';
const goneEvent = (name: string): string => `server-gone {"name":"${name}"}`;

test('event hub: greets a new reader and sends it only later events', async () => {
  const { open, emitGone } = createHub();
  emitGone('before');
  const stream = open();
  emitGone('a');
  emitGone('b');
  expect(await next(stream, 3)).toEqual([HELLO, goneEvent('a'), goneEvent('b')]);
});

test('event hub: replays the events after the last event id of a returning reader', async () => {
  const { open, emitGone } = createHub();
  open();
  for (const name of ['a', 'b', 'c']) emitGone(name);
  expect(await next(open('10-1-1'), 3)).toEqual([HELLO, goneEvent('b'), goneEvent('c')]);
  expect(await next(open('10-1-0'), 4)).toEqual([HELLO, goneEvent('a'), goneEvent('b'), goneEvent('c')]);
});

test.each([
  ['belongs to another process', '11-1-1', 'restart'],
  ['belongs to a period without readers', '10-0-1', 'gap'],
  ['was never issued', '10-1-9', 'gap'],
  ['is malformed', 'x', 'restart'],
])('event hub: resets a reader whose last event id %s', async (_, id, reason) => {
  const { open, emitGone } = createHub();
  open();
  emitGone('a');
  expect(await next(open(id), 2)).toEqual([HELLO, `reset {"reason":"${reason}"}`]);
});

test('event hub: keeps the last 2000 events for replay', async () => {
  const { open, emitGone } = createHub();
  open();
  for (let index = 0; index < 2001; index++) emitGone(`s${index}`);
  expect(await next(open('10-1-0'), 2)).toEqual([HELLO, 'reset {"reason":"gap"}']);
  expect((await next(open('10-1-1'), 2001)).at(-1)).toBe(goneEvent('s2000'));
});

test('event hub: disconnects a slow reader and tells it the reason', async () => {
  const { open, emitGone } = createHub();
  const stream = open();
  for (let index = 0; index < 12; index++) emitGone('x'.repeat(100_000));
  const received = await next(stream, Infinity);
  expect(received.at(-1)).toBe('reset {"reason":"slow"}');
  expect(received.length).toBeLessThan(5);
});

test('event hub: ends the stream of a browser that signed out', async () => {
  const { hub, emitGone } = createHub();
  let isAllowed = true;
  const stream = hub.open({ isAllowed: () => isAllowed });
  emitGone('a');
  isAllowed = false;
  emitGone('b');
  const received = await next(stream, Infinity);
  expect(received.join(' ')).not.toContain('"b"');
});

test('event hub: starts watching once with the first reader and stops on dispose', async () => {
  const { open, watched, hub } = createHub();
  expect(watched).toEqual([]);
  const stream = open();
  open();
  expect(watched).toEqual(['begin']);
  await stream.cancel();
  hub[Symbol.dispose]();
  expect(watched).toEqual(['begin', 'end']);
});

test('event hub: keeps watching for one minute after the last reader, for one that returns', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { open, watched, emitGone } = createHub();
  await open().cancel();
  vi.advanceTimersByTime(59_999);
  emitGone('a');
  const returned = open('10-1-0');
  expect(await next(returned, 2)).toEqual([HELLO, goneEvent('a')]);
  // `next` has cancelled the stream, so the minute starts again.
  vi.advanceTimersByTime(59_999);
  expect(watched).toEqual(['begin']);
  vi.advanceTimersByTime(1);
  expect(watched).toEqual(['begin', 'end']);
  emitGone('b');
  expect(await next(open('10-1-1'), 2)).toEqual([HELLO, 'reset {"reason":"gap"}']);
  expect(watched).toEqual(['begin', 'end', 'begin']);
});

test('event hub: does not stop watching while a reader is there', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { open, watched } = createHub({ lingerMs: 10 });
  const [first, second] = [open(), open()];
  await first.cancel();
  vi.advanceTimersByTime(1000);
  expect(watched).toEqual(['begin']);
  await second.cancel();
  vi.advanceTimersByTime(9);
  open();
  vi.advanceTimersByTime(1000);
  expect(watched).toEqual(['begin']);
});
