import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { paint } from './paint.ts';
import { StatusLine } from './progress.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function statusLine(how: 'drawn' | 'lines' | 'none') {
  const written: string[] = [];
  const stderr = { write: (text: string) => written.push(text), isTTY: true, columns: 40 };
  return { status: new StatusLine({ stderr, paint: paint(false), how }), written };
}

test.each(['drawn', 'lines'] as const)('%s: what is quick shows nothing', (how) => {
  const { status, written } = statusLine(how);
  const progress = status.start('Calling x');
  vi.advanceTimersByTime(400);
  progress[Symbol.dispose]();
  vi.advanceTimersByTime(60_000);
  expect(written).toEqual([]);
});

test('a drawn line stays in its line, fits, and is gone at the end', () => {
  const { status, written } = statusLine('drawn');
  const progress = status.start('x');
  progress.update('a label that is much longer than the terminal is wide', 0.5);
  vi.advanceTimersByTime(700);
  progress[Symbol.dispose]();
  expect(written.length).toBeGreaterThan(2);
  expect(written.join('')).not.toContain('\n');
  for (const text of written) expect(text.replace('\r\u001b[K', '').length).toBeLessThanOrEqual(40);
  expect(written.at(-1)).toBe('\r\u001b[K');
});

test('lines are told now and then, in words, and nothing else is written', () => {
  const { status, written } = statusLine('lines');
  const progress = status.start('Calling x');
  vi.advanceTimersByTime(600);
  progress.update('step\u001b[2J 3', 0.457);
  vi.advanceTimersByTime(20_000);
  progress[Symbol.dispose]();
  vi.advanceTimersByTime(60_000);
  expect(written).toEqual(['Calling x…\n', 'step[2J 3: 45 %\n', 'step[2J 3: 45 %\n']);
});

test('while a person is asked nothing is shown', () => {
  for (const how of ['drawn', 'lines'] as const) {
    const { status, written } = statusLine(how);
    using _progress = status.start('Calling x');
    using _pause = status.pause();
    vi.advanceTimersByTime(30_000);
    expect(written).toEqual([]);
  }
});

test('where it is not wanted it is silent', () => {
  const { status, written } = statusLine('none');
  using _ = status.start('Calling x');
  vi.advanceTimersByTime(30_000);
  expect(written).toEqual([]);
});
