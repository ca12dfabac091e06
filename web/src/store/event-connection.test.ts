import { expect, test, vi } from 'vitest';

import { createEventConnection } from './event-connection.ts';

function createConnection() {
  const sources: EventTarget[] = [];
  const delays: number[] = [];
  const callbacks: (() => void)[] = [];
  const handlers = { onEvent: vi.fn<() => void>(), onOpen: vi.fn<() => void>(), onLoss: vi.fn<() => void>() };
  const connection = createEventConnection({
    ...handlers,
    connect: () => {
      const source = Object.assign(new EventTarget(), { close: () => {} });
      sources.push(source);
      return source as EventTarget as EventSource;
    },
    setTimer: (callback, ms) => delays.push(ms) + callbacks.push(callback),
    clearTimer: () => {},
  });
  const fire = (name: string, data?: object): void => {
    const event =
      data === undefined ? new Event(name) : new MessageEvent(name, { data: JSON.stringify(data) });
    sources.at(-1)?.dispatchEvent(event);
  };
  return { connection, fire, sources, delays, runTimer: () => callbacks.at(-1)?.(), ...handlers };
}

test('live events: are delivered by name', () => {
  const { connection, fire, onEvent, onOpen } = createConnection();
  connection.open();
  fire('open');
  fire('server-gone', { name: 'files' });
  expect(connection.state.value).toBe('live');
  expect(onOpen).toHaveBeenCalledTimes(1);
  expect(onEvent).toHaveBeenCalledWith({ event: 'server-gone', data: { name: 'files' } });
});

test('live events: reconnect with growing delays, reset by a working connection', () => {
  const { connection, fire, delays, runTimer, sources, onLoss } = createConnection();
  connection.open();
  for (let attempt = 0; attempt < 8; attempt += 1) {
    fire('error');
    expect(connection.state.value).toBe('lost');
    runTimer();
  }
  expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
  expect(sources).toHaveLength(9);
  expect(onLoss).toHaveBeenCalledTimes(8);
  fire('open');
  fire('error');
  expect(delays.at(-1)).toBe(500);
});

test('live events: stop after close', () => {
  const { connection, fire, onLoss } = createConnection();
  connection.open();
  connection.close();
  fire('error');
  expect(connection.state.value).toBe('off');
  expect(onLoss).not.toHaveBeenCalled();
});
