import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { addResults, newResults, readResults, resultsText, saveResults } from './results.mjs';

const folder = mkdtempSync(join(tmpdir(), 'bench-results-'));
const file = join(folder, 'results.json');
afterAll(() => rmSync(folder, { recursive: true }));

const about = { mode: 'quick', machine: 'a machine', date: '2026-01-02T03:04:05Z' };
const table = {
  id: 'hung',
  title: 'Beside a hung one',
  columns: [{ key: 'p95', title: 'p95', kind: 'ratio' }],
  rows: [{ name: 'trunkline', p95: 1.0512345678 }],
};

describe('benchmark results', () => {
  test('results: show goals and are saved with significant digits only', () => {
    const results = newResults(about);
    addResults(results, { tables: [table], facts: { hung: table.rows[0] } });
    const text = resultsText(results);
    expect(text).toContain('trunkline  1.05 ×');
    expect(text).toMatch(/healthy server beside a hung one, p95 .*1\.05 × +reached/);
    saveResults(file, results, {});
    expect(readFileSync(file, 'utf8')).toContain('"p95": 1.05123\n');
    expect(readResults(file).goals.find(({ verdict }) => verdict === 'reached').measured).toBe('1.05 ×');
  });

  test('results: keep earlier measurements that this run did not make', () => {
    const results = newResults({ ...about, machine: 'another' });
    results.other.audit = { rate: 1 };
    saveResults(file, results, { machine: 'a machine', tables: [table], search: { found: 1 } });
    expect(readResults(file)).toMatchObject({
      machine: 'a machine',
      tables: [{ id: 'hung' }],
      search: { found: 1 },
      audit: { machine: 'another', rate: 1 },
    });
  });

  test('results: are empty when the file cannot be read', () => {
    expect(readResults(join(folder, 'missing.json'))).toEqual({});
  });
});
