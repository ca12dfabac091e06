import { expect, onTestFinished, test } from 'vitest';

import { eventsIn } from '../event-reader.ts';
import { EventHub } from './event-hub.ts';
import type { HubOptions } from './event-hub.ts';

function opened(options: Partial<HubOptions> = {}) {
  const watched: string[] = [];
  const hub = new EventHub({
    ...{ version: '1', since: 36, ...options },
    watch: () => {
      watched.push('begin');
      return { [Symbol.dispose]: () => void watched.push('end') };
    },
  });
  onTestFinished(() => hub[Symbol.dispose]());
  const isAllowed = (): boolean => true;
  const gone = (name: string): void => hub.emit({ event: 'server-gone', data: { name } });
  return { hub, watched, gone, open: (lastId?: string) => hub.open({ lastId, isAllowed }) };
}

/** The next events of a stream that has them already, as `event data`. */
async function next(stream: ReadableStream<Uint8Array>, count: number): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { event, data } of eventsIn(stream)) {
    found.push(`${event} ${data}`);
    if (found.length === count) break;
  }
  return found;
}

const HELLO = 'hello {"version":"1","since":36}';
const ended = (name: string): string => `server-gone {"name":"${name}"}`;

test('greets a reader and tells it what happens from then on', async () => {
  const { open, gone } = opened();
  gone('before');
  const stream = open();
  gone('a');
  gone('b');
  expect(await next(stream, 3)).toEqual([HELLO, ended('a'), ended('b')]);
});

test('tells a reader who comes back what it missed, and nothing twice', async () => {
  const { open, gone } = opened();
  open();
  for (const name of ['a', 'b', 'c']) gone(name);
  expect(await next(open('10-1-1'), 3)).toEqual([HELLO, ended('b'), ended('c')]);
  expect(await next(open('10-1-0'), 4)).toEqual([HELLO, ended('a'), ended('b'), ended('c')]);
});

test.each([
  ['of another start', '11-1-1', 'restart'],
  ['of a time that nobody watched', '10-0-1', 'gap'],
  ['that was never given', '10-1-9', 'gap'],
  ['that is none', 'x', 'restart'],
])('sends a reader with an id %s back to the beginning', async (_, id, reason) => {
  const { open, gone } = opened();
  open();
  gone('a');
  expect(await next(open(id), 2)).toEqual([HELLO, `reset {"reason":"${reason}"}`]);
});

test('keeps a bounded number of events', async () => {
  const { open, gone } = opened();
  open();
  for (let each = 0; each < 2001; each++) gone(`s${each}`);
  expect(await next(open('10-1-0'), 2)).toEqual([HELLO, 'reset {"reason":"gap"}']);
  expect((await next(open('10-1-1'), 2001)).at(-1)).toBe(ended('s2000'));
});

test('cuts a reader off that reads too slowly, and tells it so', async () => {
  const { open, gone } = opened();
  const stream = open();
  for (let each = 0; each < 12; each++) gone('x'.repeat(100_000));
  const heard = await next(stream, Infinity);
  expect(heard.at(-1)).toBe('reset {"reason":"slow"}');
  expect(heard.length).toBeLessThan(5);
});

test('ends the stream of a browser that signed out', async () => {
  const { hub, gone } = opened();
  let isAllowed = true;
  const stream = hub.open({ isAllowed: () => isAllowed });
  gone('a');
  isAllowed = false;
  gone('b');
  const heard = await next(stream, Infinity);
  expect(heard.join(' ')).not.toContain('"b"');
});

test('watches while somebody reads, and a little longer', async () => {
  const { open, watched, hub } = opened({ lingerMs: 0 });
  expect(watched).toEqual([]);
  const stream = open();
  open();
  expect(watched).toEqual(['begin']);
  await stream.cancel();
  hub[Symbol.dispose]();
  expect(watched).toEqual(['begin', 'end']);
});
