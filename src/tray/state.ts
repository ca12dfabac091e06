import type { AdminApprovals, AdminServer, AdminStatus } from '../admin/contract/contract.ts';
import { counted, label } from './label.ts';

/** All that the tray knows of a gateway that it reaches. */
export interface GatewayFacts {
  readonly status: AdminStatus;
  /** Empty where nothing waits. */
  readonly approvals: Pick<AdminApprovals, 'held' | 'calls'>;
  /** Since midnight; absent where nothing is recorded. */
  readonly today?: { readonly calls: number; readonly errors: number };
}

export interface TrayState {
  /** Undefined while there is no gateway. */
  readonly gateway: GatewayFacts | undefined;
  /** What became of the last thing that the person wanted, if it failed or still runs. */
  readonly notice?: string | undefined;
}

/** What the icon says: by its shape and its words, not only by a colour. */
export type Look = 'well' | 'attention' | 'paused' | 'away';

export const LOOKS: readonly Look[] = ['well', 'attention', 'paused', 'away'];

export function lookOf({ gateway }: TrayState): Look {
  if (gateway === undefined) return 'away';
  if (gateway.status.pausedSince !== undefined) return 'paused';
  return needsOf(gateway).length > 0 ? 'attention' : 'well';
}

/** The icon in words, as tooltip and for those who do not see it. */
export function headline(state: TrayState): string {
  const { gateway } = state;
  if (gateway === undefined) return 'Trunkline: no gateway is running';
  const { status } = gateway;
  const on = status.servers.filter(({ enabled }) => enabled).length;
  const facts = `${counted(on, 'server')}, ${counted(status.tools, 'tool')}`;
  const needs = needsOf(gateway).length;
  switch (lookOf(state)) {
    case 'paused':
      return `Trunkline is paused: calls are refused (${facts})`;
    case 'attention':
      return `Trunkline: ${counted(needs, 'thing')} ${needs === 1 ? 'needs' : 'need'} you (${facts})`;
    default:
      return `Trunkline: all is well (${facts})`;
  }
}

/** Something that only a person can do. */
export type Need =
  | { readonly kind: 'sign-in'; readonly server: string }
  | { readonly kind: 'server'; readonly server: string }
  | { readonly kind: 'entries'; readonly server: string; readonly count: number }
  | { readonly kind: 'call'; readonly call: AdminApprovals['calls'][number] }
  | { readonly kind: 'config'; readonly problem: string }
  | { readonly kind: 'broken'; readonly server: string; readonly problem: string }
  /** More waits than was told in detail. */
  | { readonly kind: 'more'; readonly count: number };

/** The most urgent first: somebody waits for the answer to a call. */
export function needsOf({ status, approvals }: GatewayFacts): readonly Need[] {
  const calls = approvals.calls.map((call) => ({ kind: 'call', call }) as const);
  // Whoever refused something has decided.
  const undecided = approvals.held.filter(({ reason }) => reason !== 'refused');
  const held = undecided.filter(({ kind }) => kind === 'server');
  const entries = new Map<string, number>();
  for (const { kind, server } of undecided)
    if (kind !== 'server') entries.set(server, (entries.get(server) ?? 0) + 1);
  const told = approvals.calls.length + undecided.length;
  const waiting = status.held.calls + status.held.servers + status.held.entries;
  return [
    ...calls,
    ...held.map(({ server }) => ({ kind: 'server', server }) as const),
    ...[...entries].map(([server, count]) => ({ kind: 'entries', server, count }) as const),
    ...(waiting > told ? [{ kind: 'more', count: waiting - told } as const] : []),
    ...(status.configProblem === undefined ? [] : [configNeed(status.configProblem)]),
    ...status.servers.filter(isOn).flatMap(needOf),
  ];
}

function configNeed({ message, line }: NonNullable<AdminStatus['configProblem']>): Need {
  // Its place is at the beginning, of which the line says enough.
  const words = message.replace(/^.*?:\d+:\d+: /, '');
  return { kind: 'config', problem: label(line === undefined ? words : `line ${line}: ${words}`) };
}

function isOn({ enabled }: AdminServer): boolean {
  return enabled;
}

function needOf({ name, state, problem }: AdminServer): readonly Need[] {
  if (state === 'needs-auth') return [{ kind: 'sign-in', server: name }];
  // What is only held has its line already.
  if (state !== 'failed') return [];
  // Messages begin with whom they are about, which stands there already.
  const message = problem?.message.replace(`Server "${name}" `, '') ?? 'cannot be used';
  return [{ kind: 'broken', server: name, problem: label(message) }];
}
