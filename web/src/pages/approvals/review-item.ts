import type {
  AdminApprovals,
  AdminHeld,
  AdminNamed,
  AdminWaitingCall,
} from '../../../../src/admin/contract/contract.ts';

/** One thing that a person decides about. */
export type ReviewItem =
  | { readonly key: string; readonly kind: 'call'; readonly call: AdminWaitingCall }
  | { readonly key: string; readonly kind: 'held'; readonly held: AdminHeld };

export interface ReviewGroup {
  readonly title: string;
  /** Of a group of things that one server offers. */
  readonly server?: string;
  readonly items: readonly ReviewItem[];
}

/** Calls first, since somebody waits; then by server, each with itself before what it offers; what was refused last. */
export function reviewGroups({ held, calls }: AdminApprovals): readonly ReviewGroup[] {
  const undecided = held.filter(({ reason }) => reason !== 'refused');
  const refused = held.filter(({ reason }) => reason === 'refused');
  const servers = [...new Set(undecided.map(({ server }) => server))];
  const groups: readonly ReviewGroup[] = [
    { title: 'Calls that wait', items: calls.map(callItem) },
    ...servers.map((server) => ({
      title: server,
      server,
      items: undecided
        .filter((each) => each.server === server)
        .toSorted((a, b) => rank(a) - rank(b))
        .map(heldItem),
    })),
    { title: 'Refused', items: refused.map(heldItem) },
  ];
  return groups.filter(({ items }) => items.length > 0);
}

/** The one that an address leads to, else the first. */
export function firstKey(groups: readonly ReviewGroup[], query: URLSearchParams): string | undefined {
  const [call, server] = [query.get('call'), query.get('server')];
  const all = groups.flatMap(({ items }) => items);
  const wanted =
    all.find((item) => item.kind === 'call' && item.call.id === call) ??
    all.find((item) => item.kind === 'held' && item.held.server === server);
  return (wanted ?? all[0])?.key;
}

/** The first thing that a server offers and nobody has decided about. */
export function offeredBy(server: string, groups: readonly ReviewGroup[]): string | undefined {
  const own = groups.find((group) => group.server === server)?.items;
  return own?.find((item) => item.kind === 'held' && item.held.kind !== 'server')?.key;
}

/** What a decision names: exactly the bytes that were shown. */
export function namedOf({ server, kind, name, fingerprint }: AdminNamed): AdminNamed {
  return { server, kind, name, fingerprint };
}

/** Whether what waits now is what was shown, to the byte. */
export function isAsShown(now: ReviewItem | undefined, shown: ReviewItem): boolean {
  return now !== undefined && printOf(now) === printOf(shown);
}

function printOf(item: ReviewItem): string {
  return item.kind === 'call' ? item.call.id : item.held.fingerprint;
}

function callItem(call: AdminWaitingCall): ReviewItem {
  return { key: `call ${call.id}`, kind: 'call', call };
}

function heldItem(held: AdminHeld): ReviewItem {
  return { key: JSON.stringify([held.server, held.kind, held.name]), kind: 'held', held };
}

/** Trouble before the rest, and the server before both. */
function rank({ kind, findings, reason }: AdminHeld): number {
  if (kind === 'server') return 0;
  if (findings.length > 0 || reason === 'suspicious') return 1;
  return reason === 'changed' ? 2 : 3;
}
