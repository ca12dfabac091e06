import type {
  AdminApprovals,
  AdminHeldItem,
  AdminItemReference,
  AdminHeldCall,
} from '../../../../src/admin/contract/contract.ts';

import { isCutAtFirst } from '../../lib/format-definition.ts';

/** A held call, or a held server or entry, that a person approves or refuses. */
export type ReviewItem =
  | { readonly key: string; readonly kind: 'call'; readonly call: AdminHeldCall }
  | { readonly key: string; readonly kind: 'held'; readonly held: AdminHeldItem };

export interface ReviewGroup {
  readonly title: string;
  /** The server of the items. Absent for held calls and refused items. */
  readonly server?: string;
  readonly items: readonly ReviewItem[];
}

/** Groups the items: first calls, because clients wait for them, then each server with its entries, and refused items last. */
export function groupItems({ held, calls }: AdminApprovals): readonly ReviewGroup[] {
  const undecided = held.filter(({ reason }) => reason !== 'refused');
  const refused = held.filter(({ reason }) => reason === 'refused');
  const servers = [...new Set(undecided.map(({ server }) => server))];
  const groups: readonly ReviewGroup[] = [
    { title: 'Held calls', items: calls.map(toCallItem) },
    ...servers.map((server) => ({
      title: server,
      server,
      items: undecided
        .filter((item) => item.server === server)
        .toSorted((a, b) => urgency(a) - urgency(b))
        .map(toHeldItem),
    })),
    { title: 'Refused', items: refused.map(toHeldItem) },
  ];
  return groups.filter(({ items }) => items.length > 0);
}

/** Returns the key of the item that the URL selects, or of the first item if the URL selects none. */
export function initialKey(groups: readonly ReviewGroup[], query: URLSearchParams): string | undefined {
  const [callId, server] = [query.get('call'), query.get('server')];
  const items = groups.flatMap((group) => group.items);
  const selected =
    items.find((item) => item.kind === 'call' && item.call.id === callId) ??
    items.find((item) => item.kind === 'held' && item.held.server === server);
  return (selected ?? items[0])?.key;
}

/** Returns the key of the first undecided entry of a server. */
export function firstEntryKey(server: string, groups: readonly ReviewGroup[]): string | undefined {
  const items = groups.find((group) => group.server === server)?.items;
  return items?.find((item) => item.kind === 'held' && item.held.kind !== 'server')?.key;
}

/** Returns the part of an item that a decision refers to, including the fingerprint of the shown version. */
export function toReference({ server, kind, name, fingerprint }: AdminItemReference): AdminItemReference {
  return { server, kind, name, fingerprint };
}

/** Returns whether the current version of an item is the one that was shown. */
export function isSameVersion(current: ReviewItem | undefined, shown: ReviewItem): boolean {
  return current !== undefined && versionOf(current) === versionOf(shown);
}

/** Returns whether the definition or the arguments are shown only in part at first. They must be shown whole before they can be approved. */
export function isLong(item: ReviewItem): boolean {
  return item.kind === 'call'
    ? isCutAtFirst(item.call.arguments)
    : isCutAtFirst(item.held.offered, item.held.approved?.definition);
}

/** Returns whether the user may make this decision. An item can always be refused, but approved only if it was shown whole. */
export function mayDecide(
  item: ReviewItem,
  decision: 'accept' | 'refuse',
  expanded: ReviewItem | undefined,
): boolean {
  return decision === 'refuse' || item === expanded || !isLong(item);
}

function versionOf(item: ReviewItem): string {
  return item.kind === 'call' ? item.call.id : item.held.fingerprint;
}

function toCallItem(call: AdminHeldCall): ReviewItem {
  return { key: `call ${call.id}`, kind: 'call', call };
}

function toHeldItem(held: AdminHeldItem): ReviewItem {
  return { key: JSON.stringify([held.server, held.kind, held.name]), kind: 'held', held };
}

/** Returns the sort key of an item. The server itself comes first, then suspicious, changed and new entries. */
function urgency({ kind, findings, reason }: AdminHeldItem): number {
  if (kind === 'server') return 0;
  if (findings.length > 0 || reason === 'suspicious') return 1;
  return reason === 'changed' ? 2 : 3;
}
