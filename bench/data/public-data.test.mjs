import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { missingDataMessage, readPublicCatalog, readPublicSet } from './public-data.mjs';

let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-data-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('public data', () => {
  test('public data: is undefined where it is not at hand', () => {
    expect(readPublicCatalog(folder)).toBeUndefined();
    expect(readPublicSet('metatool', folder)).toBeUndefined();
  });

  test('public data: reads one server per file of the catalog', () => {
    mkdirSync(join(folder, 'catalog'));
    const server = { server: 'One', version: '1.0.0', tools: [{ name: 'echo' }] };
    writeFileSync(join(folder, 'catalog', 'one.json'), JSON.stringify(server));
    writeFileSync(join(folder, 'catalog', 'README.md'), 'Not a server.');
    expect(readPublicCatalog(folder)).toEqual([{ name: 'one', ...server }]);
  });

  test('public data: reads a set of requests', () => {
    mkdirSync(join(folder, 'retrieval'));
    const set = { tools: [], queries: [{ id: 1, query: 'Echo', relevant: [] }] };
    writeFileSync(join(folder, 'retrieval', 'metatool.dev.json'), JSON.stringify(set));
    expect(readPublicSet('metatool', folder)).toEqual(set);
  });

  test('public data: a message says what is missing, what is left out and what to do', () => {
    expect(missingDataMessage('catalog', 'Alarms are not measured.', '/data')).toBe(
      'catalog is not in /data. Alarms are not measured. Set TRUNKLINE_BENCH_DATA to a folder that has it; bench/data/README.md describes the format.',
    );
  });
});
