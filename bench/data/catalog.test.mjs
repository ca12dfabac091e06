import { createHash } from 'node:crypto';

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';

import { percentile } from '../lib/stats.mjs';
import { generateCatalog } from './catalog.mjs';

const catalog = generateCatalog();
const tools = catalog.flatMap((server) => server.tools);

describe('generated catalog', () => {
  test('catalog: has 2,000 tools of 90 servers', () => {
    expect(catalog).toHaveLength(90);
    expect(tools).toHaveLength(2000);
  });

  test('catalog: is the same every time', () => {
    expect(JSON.stringify(generateCatalog())).toBe(JSON.stringify(catalog));
  });

  test('catalog: changes only on purpose, because published numbers were measured on it', () => {
    const hash = createHash('sha256').update(JSON.stringify(catalog)).digest('hex');
    expect(hash).toBe('e6cc1a76742e5df60837e6d1e1c6af7465dee65fc3bea49d8e7294e153811b10');
  });

  test('catalog: has unique server names, and unique valid tool names within a server', () => {
    expect(new Set(catalog.map(({ name }) => name)).size).toBe(catalog.length);
    for (const server of catalog) {
      const names = server.tools.map(({ name }) => name);
      expect([server.name, new Set(names).size]).toEqual([server.name, names.length]);
      for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    }
  });

  test('catalog: names what every tool is for', () => {
    for (const { tools: own, concepts } of catalog)
      expect(Object.keys(concepts)).toEqual(own.map(({ name }) => name));
  });

  test('catalog: has input schemas whose references and required properties exist', () => {
    for (const { name, inputSchema } of tools) {
      expect([name, inputSchema.type]).toEqual([name, 'object']);
      const known = Object.keys(inputSchema.properties);
      expect(known).toEqual(expect.arrayContaining(inputSchema.required ?? []));
      const references = JSON.stringify(inputSchema).match(/(?<="\$ref":"#\/\$defs\/)\w+/g) ?? [];
      expect(Object.keys(inputSchema.$defs ?? {})).toEqual(expect.arrayContaining(references));
    }
  });

  test('catalog: is as messy as public ones', () => {
    const texts = tools.map((tool) => JSON.stringify(tool));
    const share = (pattern) => texts.filter((text) => pattern.test(text)).length / texts.length;
    for (const pattern of [
      /"\$ref"/,
      /"oneOf"/,
      /"anyOf"/,
      /"allOf"/,
      /"const"/,
      /\p{Script=Han}/u,
      /\\n## /,
    ])
      expect([pattern, share(pattern) > 0.01]).toEqual([pattern, true]);
    expect(tools.some(({ description }) => description === undefined)).toBe(true);
    expect(tools.some(({ inputSchema }) => Object.keys(inputSchema.properties).length === 0)).toBe(true);
  });

  // 94 public servers with 2,037 tools have 70, 200, 673 and 2,123 tokens at these points.
  test.each([
    [0.1, 70],
    [0.5, 200],
    [0.9, 673],
    [0.99, 2123],
  ])('catalog: has definitions as long as public ones at percentile %s', (part, tokens) => {
    const own = percentile(
      tools.map((tool) => countTokens(JSON.stringify(tool))),
      part,
    );
    expect(own / tokens).toBeGreaterThan(0.8);
    expect(own / tokens).toBeLessThan(1.25);
  });
});
