import { expect, test, vi } from 'vitest';

import { makeLive } from './live.ts';

function liveWithFakes() {
  const sources: EventTarget[] = [];
  const waits: number[] = [];
  const acts: (() => void)[] = [];
  const heard = { onEvent: vi.fn<() => void>(), onOpen: vi.fn<() => void>(), onLoss: vi.fn<() => void>() };
  const live = makeLive({
    ...heard,
    connect: () => {
      const source = Object.assign(new EventTarget(), { close: () => {} });
      sources.push(source);
      return source as EventTarget as EventSource;
    },
    later: (act, ms) => waits.push(ms) + acts.push(act),
    cancel: () => {},
  });
  const fire = (name: string, data?: object): void => {
    const event =
      data === undefined ? new Event(name) : new MessageEvent(name, { data: JSON.stringify(data) });
    sources.at(-1)?.dispatchEvent(event);
  };
  return { live, fire, sources, waits, again: () => acts.at(-1)?.(), ...heard };
}

test('events are handed on by name', () => {
  const { live, fire, onEvent, onOpen } = liveWithFakes();
  live.open();
  fire('open');
  fire('server-gone', { name: 'files' });
  expect(live.state.value).toBe('live');
  expect(onOpen).toHaveBeenCalledTimes(1);
  expect(onEvent).toHaveBeenCalledWith({ event: 'server-gone', data: { name: 'files' } });
});

test('a lost stream is opened again, ever later, and at once after it worked', () => {
  const { live, fire, waits, again, sources, onLoss } = liveWithFakes();
  live.open();
  for (let times = 0; times < 8; times += 1) {
    fire('error');
    expect(live.state.value).toBe('lost');
    again();
  }
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
  expect(sources).toHaveLength(9);
  expect(onLoss).toHaveBeenCalledTimes(8);
  fire('open');
  fire('error');
  expect(waits.at(-1)).toBe(500);
});

test('after closing nothing is heard of a stream', () => {
  const { live, fire, onLoss } = liveWithFakes();
  live.open();
  live.close();
  fire('error');
  expect(live.state.value).toBe('off');
  expect(onLoss).not.toHaveBeenCalled();
});
