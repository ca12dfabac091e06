import { describe, expect, test } from 'vitest';

import { memoryView } from '../../test/support/memory-view.ts';
import { direct } from '../exposure/direct.ts';
import { Payload } from '../lib/payload.ts';
import { ListTexts } from './lists.ts';

const lists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];

describe('ListTexts', () => {
  test('knows which methods ask for a list', () => {
    const texts = new ListTexts();
    expect(lists.every((method) => texts.isList(method))).toBe(true);
    expect(['tools/call', 'toString', '__proto__', ''].some((method) => texts.isList(method))).toBe(false);
  });

  test('shows entries under the names that clients know, with everything else as it came', () => {
    const texts = new ListTexts();
    const [tools, prompts, resources, templates] = lists.map(
      (method) => texts.get(method, memoryView(), direct, { era: 'legacy' }).value,
    );
    const tool = { description: 'Can read.', name: 'files__read', inputSchema: { type: 'object' }, extra: 1 };
    expect(tools).toEqual({ tools: [tool] });
    expect(prompts).toEqual({ prompts: [{ name: 'files__greet', extra: 2 }] });
    expect(resources).toEqual({ resources: [{ uri: 'files+file:a', name: 'A', extra: 3 }] });
    expect(templates).toEqual({
      resourceTemplates: [{ uriTemplate: 'files+file:{x}', name: 'X', extra: 4 }],
    });
  });

  test.each(lists)('gives the same bytes for equal views: %s', (method) => {
    for (const era of ['legacy', 'modern'] as const) {
      const [one, other] = [new ListTexts(), new ListTexts()];
      expect(one.get(method, memoryView(['a', 'b']), direct, { era }).text).toBe(
        other.get(method, memoryView(['a', 'b']), direct, { era }).text,
      );
    }
  });

  test.each(lists)('writes a list once per view and era: %s', (method) => {
    const texts = new ListTexts();
    const view = memoryView();
    const legacy = texts.get(method, view, direct, { era: 'legacy' });
    const modern = texts.get(method, view, direct, { era: 'modern' });
    expect(texts.get(method, view, direct, { era: 'legacy' })).toBe(legacy);
    expect(texts.get(method, view, direct, { era: 'modern' })).toBe(modern);
    expect(legacy.text).not.toBe(modern.text);
    expect(texts.get(method, memoryView(), direct, { era: 'legacy' })).not.toBe(legacy);
  });

  test('writes an introduction once per view, exposure and version', () => {
    const texts = new ListTexts();
    const view = memoryView();
    let written = 0;
    const write = () => Payload.of({ written: ++written });
    const shaped = { ...direct, client: 'cursor' };
    const first = texts.introduction(view, direct, 'legacy 2025-06-18', write);
    expect(texts.introduction(view, direct, 'legacy 2025-06-18', write)).toBe(first);
    const others = [
      texts.introduction(view, direct, 'legacy 2025-11-25', write),
      texts.introduction(view, shaped, 'legacy 2025-06-18', write),
      texts.introduction(memoryView(), direct, 'legacy 2025-06-18', write),
    ];
    expect(new Set([first, ...others]).size).toBe(4);
    expect(written).toBe(4);
  });

  test('keeps a long list as the bytes that are sent, for either era', () => {
    const view = memoryView(Array.from({ length: 1000 }, (_, index) => `tool-${index}`));
    for (const era of ['legacy', 'modern'] as const) {
      const list = new ListTexts().get('tools/list', view, direct, { era });
      expect(list.bytes?.rest.toString()).toBe(list.text);
      expect(JSON.parse(list.text)).toMatchObject({ tools: { length: 1000 } });
    }
  });

  test('tells modern clients that a list is complete and not to be kept', () => {
    const text = new ListTexts().get('tools/list', memoryView(), direct, { era: 'modern' }).text;
    expect(JSON.parse(text)).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
  });
});
