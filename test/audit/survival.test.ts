import { chmodSync, mkdirSync, rmSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { openLine } from '../support/cell.ts';
import type { Cell } from '../support/cell.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { databaseOf, recorded, recordedIn } from '../support/recorded.ts';

checkLeaks();

const cell: Cell = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' };

async function callOften(line: Awaited<ReturnType<typeof openLine>>, count: number): Promise<void> {
  const calls = Array.from({ length: count }, (_, at) => line.client.callTool('plain__add', { a: at, b: 1 }));
  await Promise.all(calls);
}

describe('the record', () => {
  test('loses nothing when the gateway is asked to end', async () => {
    const line = await openLine(cell, { plain: ['plain'] });
    await line.client.listTools();
    await callOften(line, 500);
    // At once: nothing of it can have been written yet by its own pace.
    await line[Symbol.asyncDispose]();
    const rows = recordedIn(line.gateway.home);
    expect(rows).toHaveLength(500);
    expect(new Set(rows.map(({ digest }) => digest)).size).toBe(500);
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, at) => at + 1));
  });

  test('has all but the last moment when the gateway is killed', async () => {
    const line = await openLine(cell, { plain: ['plain'] });
    await line.client.listTools();
    await callOften(line, 1);
    await recorded(line.gateway.home, 1);
    const ends: number[] = [];
    const stopAt = performance.now() + 1000;
    while (performance.now() < stopAt) {
      await callOften(line, 5);
      for (let at = 0; at < 5; at++) ends.push(performance.now());
    }
    const killedAt = performance.now();
    await line.gateway.kill();
    await Promise.resolve(line[Symbol.asyncDispose]()).catch(String);
    // A quarter of a second, since the machine may be busy; the pace is 40 ms.
    const due = ends.filter((end) => end < killedAt - 250).length + 1;
    const before = recordedIn(line.gateway.home).length;
    expect(before).toBeGreaterThanOrEqual(due);
    const again = await openLine(cell, { plain: ['plain'] }, { home: line.gateway.home });
    await again.client.listTools();
    await callOften(again, 1);
    await again[Symbol.asyncDispose]();
    expect(recordedIn(line.gateway.home)).toHaveLength(before + 1);
  });

  test('that cannot be written breaks no call, and the log says so once', async () => {
    const line = await openLine(cell, { plain: ['plain'] });
    const { client, gateway } = line;
    await client.listTools();
    rmSync(databaseOf(gateway.home), { force: true });
    mkdirSync(databaseOf(gateway.home), { recursive: true });
    chmodSync(databaseOf(gateway.home), 0o500);
    for (const text of ['a', 'b', 'c'])
      expect(await client.callTool('plain__echo', { text })).toMatchObject({ content: [{ text }] });
    await line[Symbol.asyncDispose]();
    const said = gateway.stderr().match(/Operations cannot be recorded/g) ?? [];
    expect(said).toHaveLength(1);
    chmodSync(databaseOf(gateway.home), 0o700);
  });
});
