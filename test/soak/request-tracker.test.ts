import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { temporaryFolder } from '../support/test-run.ts';
import { clientKinds } from './clients/connection.ts';
import { RequestTracker } from './request-tracker.ts';
import { faultKinds, planOf } from './plan.ts';
import { Random } from './random.ts';
import { reportOf } from './report.ts';
import { readExecutions } from './watch/execution-logs.ts';
import { checkHappened, faultEvents } from './watch/fault-watch.ts';

function ledgerOf(...answered: readonly string[]): { tracker: RequestTracker; tags: readonly string[] } {
  const tracker = new RequestTracker(() => {});
  const request = answered.map((client) => tracker.begin(client, 'do', 'one'));
  for (const one of request) tracker.end(one, 'ok', true);
  return { tracker, tags: request.map(({ tag }) => tag) };
}

/** Reads these lines as the log of a server and compares them with the tracker. */
async function compared(
  tracker: RequestTracker,
  lines: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const file = join(temporaryFolder(), 'one.jsonl');
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await readExecutions([{ name: 'one', file }], tracker);
  tracker.prove();
}

test('tracker: accepts a call that was executed once and answered once', async () => {
  const { tracker, tags } = ledgerOf('sse');
  await compared(tracker, [{ event: 'executed', tag: tags[0] }]);
  expect(tracker.violations).toEqual([]);
});

test('tracker: detects a call that was executed twice', async () => {
  const { tracker, tags } = ledgerOf('sse', 'pipe');
  await compared(tracker, [
    { event: 'executed', tag: tags[0] },
    { event: 'executed', tag: tags[0] },
    { event: 'executed', tag: tags[1] },
  ]);
  await compared(tracker, [{ event: 'executed', tag: tags[1] }]);
  expect(tracker.violations).toEqual([
    'sse.1 was executed twice, now by one',
    'pipe.2 was executed twice, now by one',
  ]);
});

test('tracker: detects a response to a call that no server executed', async () => {
  const { tracker } = ledgerOf('sse');
  await compared(tracker, []);
  expect(tracker.violations).toEqual(['sse.1 (do of one) was answered, but no server executed it']);
});

test('tracker: detects a request that ends twice', () => {
  const tracker = new RequestTracker(() => {});
  const request = tracker.begin('sse', 'do', 'one');
  tracker.end(request, 'ok');
  tracker.end(request, 'ok');
  expect(tracker.violations).toEqual(['sse.1 (do) ended twice']);
});

test('tracker: reports protocol violations that servers recorded', async () => {
  const { tracker } = ledgerOf();
  await compared(tracker, [{ event: 'violation', what: 'an id that was used before' }]);
  expect(tracker.violations).toEqual([expect.stringContaining('an id that was used before')]);
});

test('tracker: fails a run that misses a possible fault or a kind of client', () => {
  const tracker = new RequestTracker(() => {});
  for (const kind of faultEvents) if (kind !== 'garbage' && kind !== 'disk-full') tracker.faults.set(kind, 1);
  for (const { name } of clientKinds) if (name !== 'pipe-modern') tracker.served.set(name, 1);
  const impossible = new Map([['disk-full', 'only root can mount a small disk']]);
  checkHappened(tracker, impossible);
  expect(tracker.violations).toEqual([
    expect.stringContaining('garbage did not happen in this run'),
    expect.stringContaining('pipe-modern got no successful answer in this run'),
  ]);
  const report = reportOf(tracker, [], impossible);
  for (const kind of faultEvents) expect(report).toContain(kind);
  expect(report).toContain('0  disk-full: NOT TRIED, only root can mount a small disk');
});

test('soak plan: repeats for the same seed and has every fault in the shortest run', () => {
  const planned = (seed: number, minutes: number): unknown[][][] =>
    planOf({ seed, minutes }, new Random(seed)).rounds.map((round) =>
      round.map(({ kind, atMs, lastsMs, random }) => [kind, atMs, lastsMs, random.next()]),
    );
  const once = planned(11, 0.2);
  expect(planned(11, 0.2)).toEqual(once);
  expect(planned(12, 0.2)).not.toEqual(once);
  expect(planned(11, 5).slice(0, once.length)).toEqual(once);
  expect(new Set(once.flat().map(([kind]) => kind))).toEqual(new Set(faultKinds));
});
