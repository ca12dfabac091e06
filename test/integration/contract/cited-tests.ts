import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { testPrograms } from '../../../scripts/test-programs.mjs';
import { parse, root, type Node, type SourceFile } from './source-tree.ts';

interface Cited {
  readonly file: string;
  readonly title: string;
}

/** Where the tests of `npm test` are. */
const QUICK_FOLDERS = /^(?:src|web\/src|test\/integration)\//;
/** Tags of tests that `npm test` leaves out, or skips where a program is missing. */
const LEFT_OUT_TAGS = ['slow', 'every-cell', ...Object.keys(testPrograms)];

/** The rows of the table of a page, without its head. */
export function rowsOf(page: string): readonly string[] {
  const [, , ...rows] = page.split('\n').filter((line) => line.startsWith('|'));
  return rows;
}

/** Where a row says that a test is. */
export function citedIn(row: string): readonly Cited[] {
  return [...row.matchAll(/`([\w./-]+\.test\.ts)` "(.*?)"(?=,| \||;|\.?$)/g)].map(
    ([, file = '', title = '']) => ({
      file,
      title,
    }),
  );
}

/** Those that are not there. */
export function missingOf(cited: readonly Cited[]): readonly Cited[] {
  return cited.filter(({ file, title }) => {
    const path = join(root, file);
    return !existsSync(path) || !isTitleIn(readFileSync(path, 'utf8'), title);
  });
}

/** Those that `npm test` does not run on every machine, each with the reason. */
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

/** Whole, in whichever quotes it is written. */
function isTitleIn(source: string, title: string): boolean {
  return [`'`, '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
}

/** The first argument of a call as it is written, without its quotes. */
function titleOf(call: Node, text: string): string | undefined {
  const [first] = call['arguments'] as readonly Node[];
  return first === undefined ? undefined : text.slice(first.start + 1, first.end - 1);
}

/** The tags in the options behind a title; `slow: true` is how a scenario has the tag. */
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
