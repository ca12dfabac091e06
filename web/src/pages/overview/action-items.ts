import type {
  AdminApprovals,
  AdminHeldItem,
  AdminServer,
  AdminStatus,
} from '../../../../src/admin/contract/contract.ts';
import { pluralize } from '../../lib/format.ts';
import { listConfigItems, listRestartItems, type KnownConfig } from './config-action-items.ts';

/** A problem or task that needs the user's attention, with the action of its button. */
export interface ActionItem {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly kind: 'bad' | 'warn';
  readonly action:
    | { readonly kind: 'sign-in'; readonly server: string }
    | { readonly kind: 'restart' | 'try'; readonly server: string }
    | { readonly kind: 'review'; readonly href: string }
    | { readonly kind: 'resume' }
    | { readonly kind: 'copy'; readonly text: string };
}

interface KnownState {
  readonly status: AdminStatus;
  readonly approvals: AdminApprovals | undefined;
  readonly config: KnownConfig | undefined;
}

/** Lists the most urgent items first: held calls, then problems that only the user can solve, then retries and pending restarts. */
export function listActionItems({ status, approvals, config }: KnownState): readonly ActionItem[] {
  return [
    ...listHeldCalls(approvals),
    ...listPause(status),
    ...listConfigItems(config, status.warnings),
    ...listHeldServers(approvals),
    ...status.servers.flatMap(listSignIn),
    ...status.servers.flatMap(listFailure),
    ...status.servers.flatMap(listRetry),
    ...listRestartItems(config),
    ...listDifferingVariables(status),
  ];
}

function listHeldCalls(approvals: AdminApprovals | undefined): ActionItem[] {
  return (approvals?.calls ?? [])
    .filter(({ isOpen }) => isOpen)
    .map(({ id, caller, server, name, message }) => ({
      id: `call ${id}`,
      title: `${caller} wants to call ${name}`,
      text: message ?? `A rule requires your approval for this call to ${server}.`,
      kind: 'warn',
      action: { kind: 'review', href: `/approvals?call=${encodeURIComponent(id)}` },
    }));
}

function listPause({ pausedSince }: AdminStatus): ActionItem[] {
  if (pausedSince === undefined) return [];
  const text = 'Clients still see the tools, but the gateway refuses all calls.';
  return [{ id: 'paused', title: 'All calls are paused', text, kind: 'warn', action: { kind: 'resume' } }];
}

function listDifferingVariables({ differingVariables = [], kind }: AdminStatus): ActionItem[] {
  if (differingVariables.length === 0) return [];
  const names = differingVariables.map(({ name }) => name).join(', ');
  const title = `A connected client has other values of ${names}`;
  const start = kind === 'background' ? 'run trunkline restart' : 'start the gateway again';
  const text = `The gateway keeps using its own. To use others, ${start} in a shell that has them.`;
  const command = kind === 'background' ? 'trunkline restart' : names;
  return [{ id: 'variables', title, text, kind: 'warn', action: { kind: 'copy', text: command } }];
}

/** Lists one item per server, however many of its entries are held. */
function listHeldServers(approvals: AdminApprovals | undefined): ActionItem[] {
  const byServer = new Map<string, AdminHeldItem[]>();
  for (const held of approvals?.held ?? []) {
    // A refused item needs no further decision.
    if (held.reason !== 'refused') byServer.set(held.server, [...(byServer.get(held.server) ?? []), held]);
  }
  return [...byServer].map(([server, held]) => ({
    id: `held ${server}`,
    title: heldTitle(server, held),
    text: heldText(held),
    kind: held.some(({ findings }) => findings.length > 0) ? 'bad' : 'warn',
    action: { kind: 'review', href: `/approvals?server=${encodeURIComponent(server)}` },
  }));
}

function heldTitle(server: string, held: readonly AdminHeldItem[]): string {
  if (held.some(({ kind }) => kind === 'server')) return `${server} is held for approval`;
  if (held.length === 1 && held[0]?.kind === 'words')
    return `The instructions of ${server} are held for approval`;
  const entries = pluralize(held.length, 'entry', 'entries');
  return `${entries} of ${server} ${held.length === 1 ? 'is' : 'are'} held for approval`;
}

function heldText(held: readonly AdminHeldItem[]): string {
  if (held.some(({ kind }) => kind === 'server')) return 'The server does not start until you approve it.';
  const count = (reason: AdminHeldItem['reason']): number =>
    held.filter((item) => item.reason === reason).length;
  const counts = [
    [count('changed'), 'changed since you approved it'],
    [count('new'), 'new'],
    [count('suspicious'), 'suspicious'],
  ] as const;
  const parts = counts.flatMap(([number, label]) => (number === 0 ? [] : [`${number} ${label}`]));
  return `${parts.join(', ')}. Clients cannot see ${held.length === 1 ? 'it' : 'them'}.`;
}

function listSignIn({ name, state, problem }: AdminServer): ActionItem[] {
  if (state !== 'needs-auth') return [];
  return [
    {
      id: `sign-in ${name}`,
      title: `${name} needs a sign-in`,
      text: problem?.message ?? 'The server cannot be used until someone signs in.',
      kind: 'warn',
      action: { kind: 'sign-in', server: name },
    },
  ];
}

function listFailure({ name, state, problem }: AdminServer): ActionItem[] {
  if (state !== 'failed') return [];
  const text = problem?.message ?? 'See its log for details.';
  const action = { kind: 'restart', server: name } as const;
  return [{ id: `failed ${name}`, title: `${name} failed`, text, kind: 'bad', action }];
}

function listRetry({ name, state, problem }: AdminServer): ActionItem[] {
  // A server that connects again keeps its problem until the attempt succeeds.
  const isConnecting = state === 'connecting' || state === 'installing';
  if (state !== 'waiting' && (!isConnecting || problem === undefined)) return [];
  const attempts = problem?.attempts === undefined ? '' : ` after ${pluralize(problem.attempts, 'attempt')}`;
  const title = `${name} is unreachable${attempts}`;
  const action = { kind: 'try', server: name } as const;
  return [{ id: `waiting ${name}`, title, text: problem?.message ?? '', kind: 'warn', action }];
}
