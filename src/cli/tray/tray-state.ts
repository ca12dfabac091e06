import { formatCount } from '../../core/lib/format-count.ts';
import type { AdminApprovals, AdminServer, AdminStatus } from '../../admin/contract/contract.ts';
import { sanitizeLabel } from './sanitize-label.ts';

/** The last state that a reachable gateway has reported. */
export interface GatewaySnapshot {
  readonly status: AdminStatus;
  /** Both lists are empty if nothing is held for approval or the lists could not be requested. */
  readonly approvals: Pick<AdminApprovals, 'held' | 'calls'>;
  /** The tool calls since midnight. Absent if the gateway keeps no audit log or the numbers could not be requested. */
  readonly today?: { readonly calls: number; readonly errors: number } | undefined;
}

export interface TrayState {
  /** Undefined while no gateway is running. */
  readonly gateway: GatewaySnapshot | undefined;
  /** Reports that the last action of the user is still running, has failed or takes effect later. */
  readonly notice?: string | undefined;
}

/** The states of the icon. Not only colours but also shapes and words distinguish them. */
export type IconState = 'healthy' | 'attention' | 'paused' | 'offline';

export const ICON_STATES: readonly IconState[] = ['healthy', 'attention', 'paused', 'offline'];

export function selectIconState({ gateway }: TrayState): IconState {
  if (gateway === undefined) return 'offline';
  if (gateway.status.pausedSince !== undefined) return 'paused';
  return listAttentionItems(gateway).length > 0 ? 'attention' : 'healthy';
}

/** Describes the icon in words, for the tooltip, the first menu item and screen readers. */
export function formatHeadline(state: TrayState): string {
  const { gateway } = state;
  if (gateway === undefined) return 'Trunkline: no gateway is running';
  const { status } = gateway;
  const enabledCount = status.servers.filter(({ enabled }) => enabled).length;
  const counts = `${formatCount(enabledCount, 'server')}, ${formatCount(status.tools, 'tool')}`;
  const itemCount = listAttentionItems(gateway).length;
  switch (selectIconState(state)) {
    case 'paused':
      return `Trunkline is paused: calls are refused (${counts})`;
    case 'attention':
      return `Trunkline: ${formatCount(itemCount, 'item')} ${itemCount === 1 ? 'needs' : 'need'} your attention (${counts})`;
    default:
      return `Trunkline: all is well (${counts})`;
  }
}

/** A task that only the user can do. */
export type AttentionItem =
  | { readonly kind: 'sign-in'; readonly server: string }
  | { readonly kind: 'held-server'; readonly server: string }
  | { readonly kind: 'held-entries'; readonly server: string; readonly count: number }
  | { readonly kind: 'held-call'; readonly call: AdminApprovals['calls'][number] }
  | { readonly kind: 'config-problem'; readonly problem: string }
  | { readonly kind: 'server-problem'; readonly server: string; readonly problem: string }
  /** Approvals that the gateway counted but did not list. */
  | { readonly kind: 'more-approvals'; readonly count: number };

/** Returns the most urgent items first. Held calls are the most urgent, because their callers wait. */
export function listAttentionItems({ status, approvals }: GatewaySnapshot): readonly AttentionItem[] {
  // Entries that the user has refused need no further decision.
  const undecided = approvals.held.filter(({ reason }) => reason !== 'refused');
  const items: AttentionItem[] = approvals.calls.map((call) => ({ kind: 'held-call', call }));
  for (const { kind, server } of undecided)
    if (kind === 'server') items.push({ kind: 'held-server', server });
  const entryCounts = new Map<string, number>();
  for (const { kind, server } of undecided)
    if (kind !== 'server') entryCounts.set(server, (entryCounts.get(server) ?? 0) + 1);
  for (const [server, count] of entryCounts) items.push({ kind: 'held-entries', server, count });
  const listedCount = approvals.calls.length + undecided.length;
  const heldCount = status.held.calls + status.held.servers + status.held.entries;
  if (heldCount > listedCount) items.push({ kind: 'more-approvals', count: heldCount - listedCount });
  if (status.configProblem !== undefined) items.push(toConfigItem(status.configProblem));
  for (const server of status.servers) {
    const item = server.enabled ? toServerItem(server) : undefined;
    if (item !== undefined) items.push(item);
  }
  return items;
}

function toConfigItem({ message, line }: NonNullable<AdminStatus['configProblem']>): AttentionItem {
  // The message starts with file, line and column; the menu shows only the line.
  const text = message.replace(/^.*?:\d+:\d+: /, '');
  return {
    kind: 'config-problem',
    problem: sanitizeLabel(line === undefined ? text : `line ${line}: ${text}`),
  };
}

function toServerItem({ name, state, problem }: AdminServer): AttentionItem | undefined {
  if (state === 'needs-auth') return { kind: 'sign-in', server: name };
  // Only failed servers get an item here. Held servers already have one.
  if (state !== 'failed') return undefined;
  // The message starts with the name of the server, which the menu item shows already.
  const message = problem?.message.replace(`Server "${name}" `, '') ?? 'cannot be used';
  return { kind: 'server-problem', server: name, problem: sanitizeLabel(message) };
}
