import { describe, expect, it } from 'vitest';

import { ResumableStreams, STANDALONE_STREAM } from './resumable-streams.ts';
import type { SseResponse } from './sse-response.ts';

/** Returns a stream that only records what is sent on it. */
function fakeStream() {
  const sent: string[] = [];
  const stream = { send: (text: string) => void sent.push(text) } as unknown as SseResponse; // Nothing else is called.
  return { sent, stream };
}

const response = { resume: () => {}, abandon: () => {} };

describe('event buffer', () => {
  it('event buffer: is limited in count and size, and always keeps the newest event', () => {
    const streams = new ResumableStreams({ waitMs: 1000 });
    const number = streams.start(response);
    const first = streams.record(number, 'first');
    for (let at = 0; at < 600; at++) streams.record(number, String(at));
    const many = fakeStream();
    streams.resume(first, many.stream);
    expect(many.sent).toHaveLength(500);
    expect(many.sent.at(-1)).toBe('599');
    streams.record(number, 'x'.repeat(2_000_000));
    const big = fakeStream();
    streams.resume(first, big.stream);
    expect(big.sent.map(({ length }) => length)).toEqual([2_000_000]);
    streams.close();
  });

  it('event buffer: resumes only from ids that it assigned', () => {
    const streams = new ResumableStreams({ waitMs: 1000 });
    streams.record(STANDALONE_STREAM, 'a');
    for (const id of ['', 'x', '1-1', '-1-0', '99999999999999999999-1', '0-1-2', '0 -1']) {
      expect(streams.resume(id, fakeStream().stream)).toBeUndefined();
      expect(streams.isComplete(id)).toBe(false);
    }
    const all = fakeStream();
    expect(streams.resume('0-0', all.stream)).toEqual({ stream: STANDALONE_STREAM, isComplete: false });
    expect(all.sent).toEqual(['a']);
  });

  it('event buffer: is complete when the last event of a complete stream was read', () => {
    const streams = new ResumableStreams({ waitMs: 1000 });
    const number = streams.start(response);
    const first = streams.record(number, 'a');
    const last = streams.record(number, 'b');
    expect(streams.isComplete(last)).toBe(false);
    streams.end(number);
    expect([streams.isComplete(first), streams.isComplete(last)]).toEqual([false, true]);
  });
});
