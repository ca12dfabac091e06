import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { temporaryFolder } from '../support/test-run.ts';
import { clientKinds } from './clients/connection.ts';
import { Ledger } from './ledger.ts';
import { faultKinds, planOf } from './plan.ts';
import { Random } from './random.ts';
import { reportOf } from './report.ts';
import { readExecutions } from './watch/execution-logs.ts';
import { checkHappened, faultEvents } from './watch/fault-watch.ts';

function ledgerOf(...answered: readonly string[]): { ledger: Ledger; tags: readonly string[] } {
  const ledger = new Ledger(() => {});
  const asked = answered.map((client) => ledger.begin(client, 'do', 'one'));
  for (const one of asked) ledger.end(one, 'ok', true);
  return { ledger, tags: asked.map(({ tag }) => tag) };
}

/** Reads these lines as the log of a server and compares them with the ledger. */
async function compared(ledger: Ledger, lines: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  const file = join(temporaryFolder(), 'one.jsonl');
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await readExecutions([{ name: 'one', file }], ledger);
  ledger.prove();
}

test('ledger: accepts a call that was executed once and answered once', async () => {
  const { ledger, tags } = ledgerOf('sse');
  await compared(ledger, [{ event: 'executed', tag: tags[0] }]);
  expect(ledger.violations).toEqual([]);
});

test('ledger: detects a call that was executed twice', async () => {
  const { ledger, tags } = ledgerOf('sse', 'pipe');
  await compared(ledger, [
    { event: 'executed', tag: tags[0] },
    { event: 'executed', tag: tags[0] },
    { event: 'executed', tag: tags[1] },
  ]);
  await compared(ledger, [{ event: 'executed', tag: tags[1] }]);
  expect(ledger.violations).toEqual([
    'sse.1 was executed twice, now by one',
    'pipe.2 was executed twice, now by one',
  ]);
});

test('ledger: detects a response to a call that no server executed', async () => {
  const { ledger } = ledgerOf('sse');
  await compared(ledger, []);
  expect(ledger.violations).toEqual(['sse.1 (do of one) was answered, but no server executed it']);
});

test('ledger: detects a request that ends twice', () => {
  const ledger = new Ledger(() => {});
  const asked = ledger.begin('sse', 'do', 'one');
  ledger.end(asked, 'ok');
  ledger.end(asked, 'ok');
  expect(ledger.violations).toEqual(['sse.1 (do) ended twice']);
});

test('ledger: reports protocol violations that servers recorded', async () => {
  const { ledger } = ledgerOf();
  await compared(ledger, [{ event: 'violation', what: 'an id that was used before' }]);
  expect(ledger.violations).toEqual([expect.stringContaining('an id that was used before')]);
});

test('ledger: fails a run that misses a possible fault or a kind of client', () => {
  const ledger = new Ledger(() => {});
  for (const kind of faultEvents) if (kind !== 'garbage' && kind !== 'disk-full') ledger.faults.set(kind, 1);
  for (const { name } of clientKinds) if (name !== 'pipe-modern') ledger.served.set(name, 1);
  const impossible = new Map([['disk-full', 'only root can mount a small disk']]);
  checkHappened(ledger, impossible);
  expect(ledger.violations).toEqual([
    expect.stringContaining('garbage did not happen in this run'),
    expect.stringContaining('pipe-modern got no successful answer in this run'),
  ]);
  const report = reportOf(ledger, [], impossible);
  for (const kind of faultEvents) expect(report).toContain(kind);
  expect(report).toContain('0  disk-full: NOT TRIED, only root can mount a small disk');
});

test('soak plan: repeats for the same seed and has every fault in the shortest run', () => {
  const planned = (seed: number, minutes: number): unknown[][][] =>
    planOf({ seed, minutes }, new Random(seed)).rounds.map((round) =>
      round.map(({ kind, atMs, lastsMs, luck }) => [kind, atMs, lastsMs, luck.next()]),
    );
  const once = planned(11, 0.2);
  expect(planned(11, 0.2)).toEqual(once);
  expect(planned(12, 0.2)).not.toEqual(once);
  expect(planned(11, 5).slice(0, once.length)).toEqual(once);
  expect(new Set(once.flat().map(([kind]) => kind))).toEqual(new Set(faultKinds));
});
