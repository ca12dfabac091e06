import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { citedIn, leftOutOf, missingOf, reasonsToLeaveOut, rowsOf } from './cited-tests.ts';
import { parse, root } from './source-tree.ts';

const rows = rowsOf(readFileSync(join(import.meta.dirname, 'readme-promises.md'), 'utf8'));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const index = readFileSync(join(root, 'docs', 'README.md'), 'utf8');

describe('README promises', () => {
  test('README promises: the table has a row for each, in order, and no other row', () => {
    const promises = promisesOf(readme, index);
    expect(promises.length).toBeGreaterThan(30);
    expect(rows.map(promiseIn)).toEqual(promises);
  });

  test('README promises: the README lists at most ten tasks, all of them from docs/README.md', () => {
    const tasks = tasksOf(readme);
    expect(tasks.length).toBeGreaterThan(0);
    expect(tasks.length).toBeLessThanOrEqual(10);
    expect(tasksOf(index)).toEqual(expect.arrayContaining([...tasks]));
  });

  test('README promises: each cites a test', () => {
    for (const row of rows) {
      const [, shownBy = '', ...more] = cellsOf(row);
      expect(more, row).toEqual([]);
      expect(citedIn(row), row).not.toEqual([]);
      expect(citedIn(row).length, row).toBe(shownBy.match(/`[^`]*\.test\.[^`]*`/g)?.length);
    }
  });

  test('README promises: every cited test exists', () => {
    expect(missingOf(rows.flatMap(citedIn))).toEqual([]);
  });

  test('README promises: every cited test runs in npm test', () => {
    expect(leftOutOf(rows.flatMap(citedIn))).toEqual([]);
  });

  test.each([
    ['src/a.test.ts', `test('a', { tags: ['slow'] }, () => {});`, ['has the tag slow']],
    [
      'src/a.test.ts',
      `test('a', { timeout: 1, tags: ['zsh', 'slow'] }, f);`,
      ['has the tag slow', 'has the tag zsh'],
    ],
    ['src/a.test.ts', `scenario('a', { downstream, slow: true }, f);`, ['has the tag slow']],
    ['src/a.test.ts', `test.each([1])('a', { tags: ['expect'] }, f);`, ['has the tag expect']],
    ['src/a.test.ts', `describe('b', { tags: ['slow'] }, () => { test('a', f); });`, ['has the tag slow']],
    ['src/a.test.ts', `needs('expect'); test('a', f);`, ['its file needs a program']],
    ['src/a.test.ts', `test('b', f, 'a');`, ['is not the title of a test']],
    ['test/system/a.test.ts', `test('a', f);`, ['is in no folder of npm test']],
  ])('README promises: %s with %s does not count', (path, text, reasons) => {
    expect(reasonsToLeaveOut(parse(path, text), 'a')).toEqual(reasons);
  });

  test.each([
    ['src/a.test.ts', `describe('b', () => { test('a', { timeout: 1 }, () => {}); });`],
    ['web/src/a.test.ts', `test('b', { tags: ['slow'] }, f); test('a', () => g({ slow: true }));`],
    ['test/integration/a.test.ts', `scenario('a', { downstream: everyLeg, slow: false }, f);`],
  ])('README promises: %s with %s counts', (path, text) => {
    expect(reasonsToLeaveOut(parse(path, text), 'a')).toEqual([]);
  });
});

/** Returns the bold starts of the bullets at the top of the README, the tasks of the index, and the sentences about security. */
function promisesOf(readmePage: string, indexPage: string): readonly string[] {
  const [top = '', ...sections] = readmePage.split(/^## /m);
  const bullets = [...top.matchAll(/^- \*\*(.*?)\*\*/gm)].map(([, bold = '']) => bold);
  const security = sections.find((section) => section.startsWith('Security in short\n')) ?? '';
  const [, ...paragraphs] = security.trimEnd().split('\n\n');
  const [license = ''] = paragraphs.splice(-1);
  if (!license.startsWith('[MIT]')) throw new Error('README.md does not end with its license.');
  return [...bullets, ...tasksOf(indexPage), ...paragraphs.flatMap(sentencesOf)];
}

/** Returns the first column of the table "I want to". */
function tasksOf(page: string): readonly string[] {
  const [, table = ''] = /^\| I want to \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(page) ?? [];
  return table.trimEnd().split('\n').map(promiseIn);
}

/** Without the targets of links. */
function sentencesOf(paragraph: string): readonly string[] {
  const text = paragraph.replaceAll('\n', ' ').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return text.split(/(?<=\.) (?=[A-Z`])/);
}

function promiseIn(row: string): string {
  return cellsOf(row)[0] ?? '';
}

function cellsOf(row: string): readonly string[] {
  return row.slice(2, -2).split(' | ');
}
