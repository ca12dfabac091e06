import { describe, expect, test } from 'vitest';

import { memoryView } from '../../../test/support/memory-view.ts';
import { directExposure } from '../../exposure/direct-exposure.ts';
import { Payload } from '../../core/lib/payload.ts';
import { ListCache } from './list-cache.ts';

const lists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];

describe('list responses', () => {
  test('list response: shows entries under exposed names with all other fields unchanged', () => {
    const cache = new ListCache();
    const [tools, prompts, resources, templates] = lists.map(
      (method) => cache.get(method, memoryView(), directExposure, { era: 'legacy' }).value,
    );
    const tool = { description: 'Can read.', name: 'files__read', inputSchema: { type: 'object' }, extra: 1 };
    expect(tools).toEqual({ tools: [tool] });
    expect(prompts).toEqual({ prompts: [{ name: 'files__greet', extra: 2 }] });
    expect(resources).toEqual({ resources: [{ uri: 'files+file:a', name: 'A', extra: 3 }] });
    expect(templates).toEqual({
      resourceTemplates: [{ uriTemplate: 'files+file:{x}', name: 'X', extra: 4 }],
    });
  });

  test.each(lists)('list response: has the same bytes for equal views: %s', (method) => {
    for (const era of ['legacy', 'modern'] as const) {
      const [one, other] = [new ListCache(), new ListCache()];
      expect(one.get(method, memoryView(['a', 'b']), directExposure, { era }).text).toBe(
        other.get(method, memoryView(['a', 'b']), directExposure, { era }).text,
      );
    }
  });

  test.each(lists)('list response: is serialised once per view and era: %s', (method) => {
    const cache = new ListCache();
    const view = memoryView();
    const legacy = cache.get(method, view, directExposure, { era: 'legacy' });
    const modern = cache.get(method, view, directExposure, { era: 'modern' });
    expect(cache.get(method, view, directExposure, { era: 'legacy' })).toBe(legacy);
    expect(cache.get(method, view, directExposure, { era: 'modern' })).toBe(modern);
    expect(legacy.text).not.toBe(modern.text);
    expect(cache.get(method, memoryView(), directExposure, { era: 'legacy' })).not.toBe(legacy);
  });

  test('introduction: is serialised once per view, exposure and version', () => {
    const cache = new ListCache();
    const view = memoryView();
    let written = 0;
    const write = () => Payload.of({ written: ++written });
    const shaped = { ...directExposure, client: 'cursor' };
    const first = cache.getDescription(view, directExposure, 'legacy 2025-06-18', write);
    expect(cache.getDescription(view, directExposure, 'legacy 2025-06-18', write)).toBe(first);
    const others = [
      cache.getDescription(view, directExposure, 'legacy 2025-11-25', write),
      cache.getDescription(view, shaped, 'legacy 2025-06-18', write),
      cache.getDescription(memoryView(), directExposure, 'legacy 2025-06-18', write),
    ];
    expect(new Set([first, ...others]).size).toBe(4);
    expect(written).toBe(4);
  });

  test('list response: keeps a long list as bytes for either era', () => {
    const view = memoryView(Array.from({ length: 1000 }, (_, index) => `tool-${index}`));
    for (const era of ['legacy', 'modern'] as const) {
      const list = new ListCache().get('tools/list', view, directExposure, { era });
      expect(list.bytes?.rest.toString()).toBe(list.text);
      expect(JSON.parse(list.text)).toMatchObject({ tools: { length: 1000 } });
    }
  });

  test('list response: is marked complete and uncacheable for modern clients', () => {
    const text = new ListCache().get('tools/list', memoryView(), directExposure, { era: 'modern' }).text;
    expect(JSON.parse(text)).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
  });
});
