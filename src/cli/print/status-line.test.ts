import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createPaint } from './paint.ts';
import { StatusLine } from './status-line.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function statusLine(mode: 'drawn' | 'lines' | 'none') {
  const written: string[] = [];
  const stderr = { write: (text: string) => written.push(text), isTTY: true, columns: 40 };
  return { status: new StatusLine({ stderr, paint: createPaint(false), mode }), written };
}

test.each(['drawn', 'lines'] as const)('progress (%s): shows nothing for a quick operation', (how) => {
  const { status, written } = statusLine(how);
  const progress = status.start('Calling x');
  vi.advanceTimersByTime(400);
  progress[Symbol.dispose]();
  vi.advanceTimersByTime(60_000);
  expect(written).toEqual([]);
});

test('progress: draws on one line, within the terminal width, and clears it at the end', () => {
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

test('progress: prints plain lines at intervals in lines mode', () => {
  const { status, written } = statusLine('lines');
  const progress = status.start('Calling x');
  vi.advanceTimersByTime(600);
  progress.update('step\u001b[2J 3', 0.457);
  vi.advanceTimersByTime(20_000);
  progress[Symbol.dispose]();
  vi.advanceTimersByTime(60_000);
  expect(written).toEqual(['Calling x…\n', 'step[2J 3: 45 %\n', 'step[2J 3: 45 %\n']);
});

test('progress: pauses while a prompt is open', () => {
  for (const how of ['drawn', 'lines'] as const) {
    const { status, written } = statusLine(how);
    using _progress = status.start('Calling x');
    using _pause = status.pause();
    vi.advanceTimersByTime(30_000);
    expect(written).toEqual([]);
  }
});

test('progress: prints nothing when disabled', () => {
  const { status, written } = statusLine('none');
  using _ = status.start('Calling x');
  vi.advanceTimersByTime(30_000);
  expect(written).toEqual([]);
});
