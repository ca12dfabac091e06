import { expect, test } from 'vitest';

import { insertRun } from './page.mjs';

const run = {
  mode: 'full',
  isBusy: true,
  machine: 'two cores',
  date: '2026-01-02T03:04:05Z',
  seconds: 7,
  failures: [
    {
      name: 'hung',
      reason: 'no answer\nand more',
    },
  ],
  peers: [
    {
      name: 'other',
      version: '1.2.3',
    },
  ],
  text: '\na table\n',
  picture: 'images/picture.svg',
};

test('results page: replaces the previous run and keeps the rest', () => {
  const page = 'before\n<!-- run -->\nold\n<!-- /run -->\nafter\n';
  const once = insertRun(page, run);
  expect(once).toMatch(/^before\n<!-- run -->\n/);
  expect(once).toMatch(/```\na table\n```\n<!-- \/run -->\nafter\n$/);
  expect(once).toContain('`npm run bench -- --full` on 2026-01-02: two cores; one busy loop');
  expect(once).toContain('other 1.2.3; hung could not be measured: no answer.');
  expect(once).toContain('](images/picture.svg)');
  expect(once).not.toContain('old');
  expect(insertRun(once, run)).toBe(once);
});

test('results page: rejects a page without a run section', () => {
  expect(() => insertRun('nothing', run)).toThrow('the page has no <!-- run -->');
});
