import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { type ErrorCode, errorTable } from '../../../src/core/errors.ts';
import { root } from './source-tree.ts';

const page = readFileSync(join(root, 'docs', 'errors.md'), 'utf8');
const sections = page.split(/^## /m).slice(1).map(readSection);
// The keys of the table are the codes, by its type.
const codes = Object.keys(errorTable) as ErrorCode[];

describe('docs/errors.md', () => {
  test('docs/errors.md: has one heading per error code, in table order', () => {
    expect(sections.map(({ heading }) => heading)).toEqual(codes);
  });

  test.each(codes)('docs/errors.md: states the facts of %s as in the error table', (code) => {
    expect(sectionOf(code).facts).toBe(factsOf(code));
  });

  test.each(codes)('docs/errors.md: explains %s and what to do', (code) => {
    const { paragraphs } = sectionOf(code);
    expect(paragraphs[0]).toMatch(/^[A-Z`].{40,}[.]$/s);
    expect(paragraphs.at(-1)).toMatch(/^\*What to do:\* .+[.]$/s);
  });

  test('docs/errors.md: explains every exit code', () => {
    const explained = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    expect(explained).toEqual(expect.arrayContaining(codes.map((code) => errorTable[code].exit)));
  });
});

interface Section {
  readonly heading: string;
  /** The line under the heading. */
  readonly facts: string;
  readonly paragraphs: readonly string[];
}

function readSection(text: string): Section {
  const [heading = '', facts = '', ...paragraphs] = text.trim().split(/\n{2,}/);
  return { heading, facts, paragraphs };
}

function sectionOf(code: ErrorCode): Section {
  const section = sections.find(({ heading }) => heading === code);
  if (section === undefined) throw new Error(`docs/errors.md has no heading "## ${code}".`);
  return section;
}

function factsOf(code: ErrorCode): string {
  const { isShownToModel, rpc, exit, isRetryable } = errorTable[code];
  return [
    `Tool calls: ${isShownToModel ? '`isError` result' : `JSON-RPC ${rpc}`}`,
    `Everything else: JSON-RPC ${rpc}`,
    `Exit code: ${exit}`,
    `Worth repeating: ${isRetryable ? 'yes' : 'no'}`,
  ].join(' · ');
}
