import { expect, test } from 'vitest';

import { stringifyExact } from '../../core/lib/exact-json.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { JsonObject } from '../../core/json.ts';
import { compactResult, compactText, TABLE_NOTE } from './compact-json.ts';

const issues = Array.from({ length: 40 }, (_, at) => ({
  number: at,
  title: at % 7 === 0 ? `"quoted"\tand tabbed ${at}` : `Crash in part ${at}`,
  isOpen: at % 2 === 0,
  closedAt: at % 2 === 0 ? null : '2026-01-02T03:04:05Z',
}));

test('compact: makes a table of a list of flat objects, and minifies other JSON', () => {
  const table = compactText(JSON.stringify(issues, null, 2), true);
  expect(table.split('\n').slice(0, 4)).toEqual([
    TABLE_NOTE,
    'number\ttitle\tisOpen\tclosedAt',
    '0\t"\\"quoted\\"\\tand tabbed 0"\ttrue\tnull',
    '1\tCrash in part 1\tfalse\t2026-01-02T03:04:05Z',
  ]);
  const nested = issues.map((issue) => ({ ...issue, user: { login: 'ada' } }));
  expect(compactText(JSON.stringify(nested, null, 2), true)).toBe(JSON.stringify(nested));
  expect(compactText(JSON.stringify(issues, null, 2), false)).toBe(JSON.stringify(issues));
  const page = compactText(JSON.stringify({ total: 40, items: issues, next: null }, null, 2), true);
  expect(page.split('\n').slice(0, 2)).toEqual([
    '{"total":40,"items":[],"next":null}',
    `"items" as a table. ${TABLE_NOTE}`,
  ]);
});

test('compact: keeps every digit, repeated keys, and texts that are short or not JSON', () => {
  const numbers = `[${'{"id": 12345678901234567890, "price": 1.50},\n'.repeat(40)}{"id": -0, "price": 1e400}]`;
  expect(compactText(numbers, true)).toBe(numbers.replaceAll(/\s/g, ''));
  const repeated = `{${'"a": 1, '.repeat(200)}"b": [1]}`;
  expect(compactText(repeated, true)).toBe(repeated.replaceAll(' ', ''));
  for (const same of ['[1, 2]', `${JSON.stringify(issues, null, 2)}]`, `# A page\n${'text '.repeat(500)}`])
    expect(compactText(same, true)).toBe(same);
});

test('compact: leaves structured content, images, questions and errors as they are', () => {
  const text = JSON.stringify(issues, null, 2);
  const image = { type: 'image', data: 'A'.repeat(2_000), mimeType: 'image/png' };
  const result = {
    content: [{ type: 'text', text, annotations: { priority: 1 } }, image],
    structuredContent: { issues },
  };
  const compacted = compactResult(Payload.ofText(JSON.stringify(result)), { tables: true })
    .value as JsonObject;
  expect(compacted).toEqual({
    ...result,
    content: [{ type: 'text', text: compactText(text, true), annotations: { priority: 1 } }, image],
  });
  const question = Payload.of({ ...result, resultType: 'input_required' });
  expect(compactResult(question, { tables: true })).toBe(question);
});

test('compact: every compacted text can be turned back into the same JSON', () => {
  const next = random(11);
  let tables = 0;
  for (let round = 0; round < 300; round += 1) {
    const columns = Array.from({ length: 1 + Math.floor(next() * 5) }, (_, at) => `${anyString(next)}${at}`);
    const rows = Array.from({ length: 60 }, () =>
      Object.fromEntries(columns.flatMap((column) => (next() < 0.1 ? [] : [[column, anyValue(next)]]))),
    );
    const value = next() < 0.5 ? rows : { total: 1, [anyString(next)]: rows, end: anyValue(next) };
    const original = JSON.stringify(value);
    const compacted = compactText(JSON.stringify(value, null, 2), true);
    if (compacted.includes(TABLE_NOTE)) tables += 1;
    expect(stringifyExact(decode(compacted))).toBe(original);
  }
  expect(tables).toBeGreaterThan(50);
});

/** Reads a compacted text as a model would: by the note alone. */
function decode(text: string): unknown {
  const [first = '', second = '', ...rest] = text.split('\n');
  if (first === TABLE_NOTE) return decodeTable([second, ...rest]);
  const value = JSON.parse(first) as JsonObject;
  if (second === '') return value;
  const key = JSON.parse(second.slice(0, -` as a table. ${TABLE_NOTE}`.length)) as string;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === key ? decodeTable(rest) : member]),
  );
}

function decodeTable([header = '', ...lines]: readonly string[]): unknown {
  const columns = header.split('\t').map((cell) => String(decodeCell(cell)));
  return lines.map((line) =>
    Object.fromEntries(
      line.split('\t').flatMap((cell, at) => (cell === '' ? [] : [[columns[at] ?? '', decodeCell(cell)]])),
    ),
  );
}

function decodeCell(cell: string): unknown {
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}

const STRINGS = [
  '',
  'a',
  'a b',
  '1',
  '-1',
  '1.5e3',
  '007',
  '1.2.3',
  '--1',
  '-',
  'true',
  'null',
  '"',
  '\t',
  '\n',
  ' x',
  'x ',
  '{',
  '[1]',
  'é',
  '查询',
  '🚀',
  '\\',
  '-',
  'a"b',
  '2026-01-01',
  '\u2028',
  '__proto__',
];

function anyString(next: () => number): string {
  return STRINGS[Math.floor(next() * STRINGS.length)] ?? '';
}

function anyValue(next: () => number): unknown {
  const kind = next();
  if (kind < 0.5) return anyString(next);
  if (kind < 0.7) return Math.floor(next() * 1_000);
  if (kind < 0.8) return next();
  return kind < 0.9 ? next() < 0.5 : null;
}

/** Returns a repeatable source of numbers from 0 to 1. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
