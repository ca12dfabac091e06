import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import Libsql from 'libsql';
import { describe, expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { openTestSetup } from '../../support/cell.ts';
import type { Cell } from '../../support/cell.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { sendRequest } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { databasePath, waitForAuditRows, readAuditRows } from '../../support/audit-rows.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const cell: Cell = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' };

async function callOften(line: Awaited<ReturnType<typeof openTestSetup>>, count: number): Promise<void> {
  const calls = Array.from({ length: count }, (_, at) => line.client.callTool('plain__add', { a: at, b: 1 }));
  await Promise.all(calls);
}

/** Measures the largest delay of a short timer. */
function lateness(): Disposable & { ms(): number } {
  const every = 10;
  let [last, worst] = [performance.now(), 0];
  const look = (): void => {
    const now = performance.now();
    worst = Math.max(worst, now - last - every);
    last = now;
  };
  const timer = setInterval(look, every);
  return {
    ms: () => {
      look();
      return Math.ceil(worst);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

describe('audit persistence', () => {
  test('audit durability: loses no record when the gateway stops', async () => {
    const line = await openTestSetup(cell, { plain: ['plain'] });
    await line.client.listTools();
    await callOften(line, 500);
    // Immediately, before the writer flushes by itself.
    await line[Symbol.asyncDispose]();
    const rows = readAuditRows(line.gateway.home);
    expect(rows).toHaveLength(500);
    expect(new Set(rows.map(({ digest }) => digest)).size).toBe(500);
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, at) => at + 1));
  });

  test('audit durability: loses at most the last 100 ms of records when the gateway is killed', async () => {
    const line = await openTestSetup(cell, { plain: ['plain'] });
    await line.client.listTools();
    await callOften(line, 1);
    await waitForAuditRows(line.gateway.home, 1);
    // A busy machine delays each step of the writer as much as it delays a timer.
    using late = lateness();
    for (const end = Date.now() + 1000; Date.now() < end;) await callOften(line, 5);
    const killedAt = Date.now();
    await line.gateway.kill();
    await Promise.resolve(line[Symbol.asyncDispose]()).catch(String);
    const rows = readAuditRows(line.gateway.home);
    const newest = Math.max(...rows.map(({ at, ms }) => at + (ms ?? 0)));
    expect(killedAt - newest).toBeLessThanOrEqual(100 + 5 * late.ms());
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, at) => at + 1));
    const again = await openTestSetup(cell, { plain: ['plain'] }, { home: line.gateway.home });
    await again.client.listTools();
    await callOften(again, 1);
    await again[Symbol.asyncDispose]();
    expect(readAuditRows(line.gateway.home)).toHaveLength(rows.length + 1);
  });

  test('audit durability: waits for a locked database and loses no record', async () => {
    await using line = await openTestSetup(cell, { plain: ['plain'] });
    await line.client.listTools();
    await callOften(line, 1);
    await waitForAuditRows(line.gateway.home, 1);
    // The writer cleans up right after its first batch; `recorded` waits for that batch.
    const other = new Libsql(databasePath(line.gateway.home), { timeout: 5000 });
    other.exec('begin immediate');
    await callOften(line, 50);
    expect(readAuditRows(line.gateway.home)).toHaveLength(1);
    other.exec('rollback');
    other.close();
    expect(await waitForAuditRows(line.gateway.home, 51)).toHaveLength(51);
    expect(line.gateway.stderr()).not.toContain('The audit log cannot be written');
  });

  test(
    'audit failure: counts and reports lost records, and resumes once the database is writable',
    { tags: ['slow'] },
    async () => {
      const home = temporaryFolder('trunkline-home');
      const mcpServers = { plain: fixture('plain') };
      {
        await using first = await startGateway({ mcpServers, home });
        await using client = await first.client();
        await waitForTool(client, 'plain__echo');
      }
      // A folder at this path keeps the database from opening.
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${databasePath(home)}${suffix}`, { force: true });
      mkdirSync(databasePath(home));
      await using gateway = await startGateway({ mcpServers, home, listen: 'http' });
      await using client = await gateway.client();
      const key = readFileSync(join(home, 'state', 'run', 'admin.key'), 'utf8').trim();
      const health = async (): Promise<object> => {
        const { text } = await sendRequest(new URL('/api/status', gateway.url), { key });
        return (JSON.parse(text) as { audit: object }).audit;
      };
      for (const text of ['a', 'b']) await client.callTool('plain__echo', { text });
      const lost = async (): Promise<void> =>
        expect(await health()).toMatchObject({ dropped: 2, written: 0 });
      await eventually(lost, { withinMs: 15_000 });
      expect(await health()).toHaveProperty('problem');
      rmSync(databasePath(home), { recursive: true });
      await client.callTool('plain__echo', { text: 'c' });
      await waitForAuditRows(home, 1);
      await eventually(async () => expect(await health()).toEqual({ dropped: 2, written: 1 }));
      const said = gateway.stderr().match(/The audit log (cannot be written|can be written again)/g);
      expect(said).toEqual(['The audit log cannot be written', 'The audit log can be written again']);
    },
  );

  test('audit failure: breaks no call, and is logged once', async () => {
    const line = await openTestSetup(cell, { plain: ['plain'] });
    const { client, gateway } = line;
    await client.listTools();
    rmSync(databasePath(gateway.home), { force: true });
    mkdirSync(databasePath(gateway.home), { recursive: true });
    chmodSync(databasePath(gateway.home), 0o500);
    for (const text of ['a', 'b', 'c'])
      expect(await client.callTool('plain__echo', { text })).toMatchObject({ content: [{ text }] });
    await line[Symbol.asyncDispose]();
    const said = gateway.stderr().match(/The audit log cannot be written/g) ?? [];
    expect(said).toHaveLength(1);
    chmodSync(databasePath(gateway.home), 0o700);
  });
});
