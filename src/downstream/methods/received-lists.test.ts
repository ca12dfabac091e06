import { describe, expect, test } from 'vitest';

import { memoryView } from '../../../test/support/memory-view.ts';
import type { CatalogView } from '../../gateway/catalog-view.ts';
import type { Fingerprint } from '../../core/ids.ts';
import { ReceivedLists } from './received-lists.ts';

const all = { tools: true, prompts: true, resources: true };
const everything = [
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
];

describe('list change notifications', () => {
  test('list changes: are all announced to a client that never listed', () => {
    expect(new ReceivedLists().notificationsFor(all, viewOf('new'))).toEqual(everything);
  });

  test('list changes: are announced only when they affect what the client sees', () => {
    const known = new ReceivedLists();
    known.start(viewOf('old'), { mayHaveListedBefore: true });
    expect(known.notificationsFor(all, viewOf('old'))).toEqual([]);
    expect(known.notificationsFor(all, viewOf('new'))).toEqual(everything);
    expect(known.notificationsFor(all, viewOf('new'))).toEqual([]);
    // A change of rules may change how the same tools are shown.
    expect(known.notificationsFor({ ...all, isPolicyChange: true }, viewOf('new'))).toEqual(
      everything.slice(0, 1),
    );
    known.reset();
    expect(known.notificationsFor(all, viewOf('new'))).toEqual(everything);
  });

  test('list changes: are not announced to a new client before it has listed', () => {
    const known = new ReceivedLists();
    known.start(viewOf('old'), { mayHaveListedBefore: false });
    expect(known.notificationsFor(all, viewOf('new'))).toEqual([]);
    known.recordListing('tools/list', viewOf('new'));
    expect(known.notificationsFor(all, viewOf('newer'))).toEqual(['notifications/tools/list_changed']);
  });

  test('list changes: are announced only for the lists that changed', () => {
    const changed = { ...all, prompts: false };
    expect(new ReceivedLists().notificationsFor(changed, viewOf('new'))).toEqual([
      everything[0],
      everything[2],
    ]);
  });

  test('list changes: are not announced to a client that listed after the change', () => {
    const known = new ReceivedLists();
    known.recordListing('tools/list', viewOf('new'));
    expect(known.notificationsFor(all, viewOf('new'))).toEqual(everything.slice(1));
    expect(known.notificationsFor(all, viewOf('newer'))).toEqual(everything);
  });

  test('list changes: are announced for resources while listed templates are outdated', () => {
    const known = new ReceivedLists();
    known.recordListing('resources/templates/list', viewOf('old'));
    known.recordListing('resources/list', viewOf('new'));
    expect(known.notificationsFor(all, viewOf('new'))).toContain('notifications/resources/list_changed');
    known.recordListing('resources/templates/list', viewOf('new'));
    expect(known.notificationsFor(all, viewOf('new'))).not.toContain('notifications/resources/list_changed');
  });

  test('list changes: are announced once each to a client that also lists at other replicas', () => {
    const known = new ReceivedLists({ hasOtherReplicas: true });
    known.recordListing('tools/list', viewOf('old'));
    const tools = { tools: true, prompts: false, resources: false };
    const told = ['new', 'new', 'old', 'new'].map(
      (digest) => known.notificationsFor(tools, viewOf(digest)).length,
    );
    expect(told).toEqual([1, 0, 1, 1]);
  });
});

function viewOf(digest: string): CatalogView {
  const each = digest as Fingerprint;
  return memoryView([], { digests: { tools: each, prompts: each, resources: each } });
}
