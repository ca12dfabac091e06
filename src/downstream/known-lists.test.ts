import { describe, expect, test } from 'vitest';

import { memoryView } from '../../test/support/memory-view.ts';
import type { View } from '../gateway/view.ts';
import type { Fingerprint } from '../model/ids.ts';
import { KnownLists } from './known-lists.ts';

const all = { tools: true, prompts: true, resources: true };
const everything = [
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
];

describe('KnownLists', () => {
  test('a client that never listed is told of every change', () => {
    expect(new KnownLists().news(all, viewOf('new'))).toEqual(everything);
  });

  test('a client that never listed is not told of what only others see', () => {
    const known = new KnownLists();
    known.met(viewOf('old'));
    expect(known.news(all, viewOf('old'))).toEqual([]);
    expect(known.news(all, viewOf('new'))).toEqual(everything);
    expect(known.news(all, viewOf('new'))).toEqual([]);
    // Its tools may be shown in another way, although they are the same.
    expect(known.news({ ...all, byRules: true }, viewOf('new'))).toEqual(everything.slice(0, 1));
    known.forget();
    expect(known.news(all, viewOf('new'))).toEqual(everything);
  });

  test('only what changed is news', () => {
    const changed = { ...all, prompts: false };
    expect(new KnownLists().news(changed, viewOf('new'))).toEqual([everything[0], everything[2]]);
  });

  test('a client that listed after the change is not told of it', () => {
    const known = new KnownLists();
    known.listed('tools/list', viewOf('new'));
    expect(known.news(all, viewOf('new'))).toEqual(everything.slice(1));
    expect(known.news(all, viewOf('newer'))).toEqual(everything);
  });

  test('templates that were listed before the change make it news although resources were listed after it', () => {
    const known = new KnownLists();
    known.listed('resources/templates/list', viewOf('old'));
    known.listed('resources/list', viewOf('new'));
    expect(known.news(all, viewOf('new'))).toContain('notifications/resources/list_changed');
    known.listed('resources/templates/list', viewOf('new'));
    expect(known.news(all, viewOf('new'))).not.toContain('notifications/resources/list_changed');
  });

  test('a client that lists elsewhere as well is told of each change once, also of one that takes another back', () => {
    const known = new KnownLists({ isShared: true });
    known.listed('tools/list', viewOf('old'));
    const tools = { tools: true, prompts: false, resources: false };
    const told = ['new', 'new', 'old', 'new'].map((digest) => known.news(tools, viewOf(digest)).length);
    expect(told).toEqual([1, 0, 1, 1]);
  });
});

function viewOf(digest: string): View {
  const each = digest as Fingerprint;
  return memoryView([], { digests: { tools: each, prompts: each, resources: each } });
}
