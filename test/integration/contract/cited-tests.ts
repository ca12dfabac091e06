import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { testPrograms } from '../../../scripts/test-programs.mjs';
import { parse, root, type Node, type SourceFile } from './source-tree.ts';

interface Cited {
  readonly file: string;
  readonly title: string;
}

/** Folders with the tests of `npm test`. */
const QUICK_FOLDERS = /^(?:src|web\/src|test\/integration)\//;
/** Tags of tests that `npm test` leaves out, or skips if a program is missing. */
const LEFT_OUT_TAGS = ['slow', 'every-cell', ...Object.keys(testPrograms)];

/** Returns the rows of the tables of a page; the first two lines are the head. */
export function rowsOf(page: string): readonly string[] {
  const [, , ...rows] = page.split('\n').filter((line) => line.startsWith('|'));
  return rows;
}

/** Returns the tests that a row cites. */
export function citedIn(row: string): readonly Cited[] {
  return [...row.matchAll(/`([\w./-]+\.test\.ts)` "(.*?)"(?=,| \||;|\.?$)/g)].map(
    ([, file = '', title = '']) => ({
      file,
      title,
    }),
  );
}

/** Returns the cited tests that do not exist. */
export function missingOf(cited: readonly Cited[]): readonly Cited[] {
  return cited.filter(({ file, title }) => {
    const path = join(root, file);
    return !existsSync(path) || !isTitleIn(readFileSync(path, 'utf8'), title);
  });
}

/** Returns the cited tests that `npm test` does not run on every machine, each with the reason. */
export function leftOutOf(cited: readonly Cited[]): readonly string[] {
  const sources = new Map(cited.map(({ file }) => [file, readFileSync(join(root, file), 'utf8')]));
  return [...sources].flatMap(([file, text]) => {
    const source = parse(file, text);
    return cited
      .filter((one) => one.file === file)
      .flatMap(({ title }) => reasonsToLeaveOut(source, title).map((why) => `${file} "${title}": ${why}`));
  });
}

export function reasonsToLeaveOut({ path, text, nodes }: SourceFile, title: string): readonly string[] {
  const reasons: string[] = [];
  if (!QUICK_FOLDERS.test(path)) reasons.push('is in no folder of npm test');
  if (text.includes('needs(')) reasons.push('its file needs a program');
  const calls = nodes.filter(({ type }) => type === 'CallExpression');
  const tests = calls.filter((call) => titleOf(call, text) === title);
  if (tests.length === 0) reasons.push('is not the title of a test');
  // The options of a suite apply to the tests in it.
  const around = calls.filter((call) =>
    tests.some((test) => call.start <= test.start && test.end <= call.end),
  );
  const tags = around.flatMap((call) => tagsOf(call, text));
  return [
    ...reasons,
    ...LEFT_OUT_TAGS.filter((tag) => tags.includes(tag)).map((tag) => `has the tag ${tag}`),
  ];
}

/** Whether the source contains the whole title, in any quotes. */
function isTitleIn(source: string, title: string): boolean {
  return [`'`, '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
}

/** Returns the first argument of a call as written, without its quotes. */
function titleOf(call: Node, text: string): string | undefined {
  const [first] = call['arguments'] as readonly Node[];
  return first === undefined ? undefined : text.slice(first.start + 1, first.end - 1);
}

/** Returns the tags in the options after a title; scenarios use `slow: true` instead of the tag. */
function tagsOf(call: Node, text: string): readonly string[] {
  const [, options] = call['arguments'] as readonly Node[];
  if (options?.type !== 'ObjectExpression') return [];
  return (options['properties'] as readonly Node[]).flatMap((property) => {
    const source = text.slice(property.start, property.end);
    if (/^slow: true$/.test(source)) return ['slow'];
    return source.startsWith('tags:')
      ? [...source.matchAll(/['"]([\w-]+)['"]/g)].map(([, tag = '']) => tag)
      : [];
  });
}
