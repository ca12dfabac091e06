import type {
  AdminApprovals,
  AdminHeld,
  AdminServer,
  AdminStatus,
} from '../../../../src/admin/contract/contract.ts';
import { plural } from '../../lib/format.ts';
import { configNeeds, restartNeeds, type KnownConfig } from './config-needs.ts';

/** Something that waits for a person, and what the button beside it does. */
export interface Need {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly kind: 'bad' | 'warn';
  readonly act:
    | { readonly do: 'sign-in'; readonly server: string }
    | { readonly do: 'restart' | 'try'; readonly server: string }
    | { readonly do: 'review'; readonly href: string }
    | { readonly do: 'resume' }
    | { readonly do: 'copy'; readonly text: string };
}

interface Known {
  readonly status: AdminStatus;
  readonly approvals: AdminApprovals | undefined;
  readonly config: KnownConfig | undefined;
}

/** The most urgent first: calls that wait, then what nobody can use, then what mends itself perhaps. */
export function needsOf({ status, approvals, config }: Known): readonly Need[] {
  return [
    ...waitingCalls(approvals),
    ...paused(status),
    ...configNeeds(config, status.warnings),
    ...heldThings(approvals),
    ...status.servers.flatMap(signIn),
    ...status.servers.flatMap(failed),
    ...status.servers.flatMap(retrying),
    ...restartNeeds(config),
  ];
}

function waitingCalls(approvals: AdminApprovals | undefined): Need[] {
  return (approvals?.calls ?? [])
    .filter(({ isOpen }) => isOpen)
    .map(({ id, caller, server, name, message }) => ({
      id: `call ${id}`,
      title: `${caller} waits to call ${name}`,
      text: message ?? `A rule wants a person to agree to this call of ${server}.`,
      kind: 'warn',
      act: { do: 'review', href: `/approvals?call=${encodeURIComponent(id)}` },
    }));
}

function paused({ pausedSince }: AdminStatus): Need[] {
  if (pausedSince === undefined) return [];
  const text = 'Clients still see the tools; calling one is refused.';
  return [{ id: 'paused', title: 'All calls are paused', text, kind: 'warn', act: { do: 'resume' } }];
}

/** One line per server, however much of it is held. */
function heldThings(approvals: AdminApprovals | undefined): Need[] {
  const byServer = new Map<string, AdminHeld[]>();
  for (const held of approvals?.held ?? []) {
    // Whoever refused something has decided.
    if (held.reason !== 'refused') byServer.set(held.server, [...(byServer.get(held.server) ?? []), held]);
  }
  return [...byServer].map(([server, held]) => ({
    id: `held ${server}`,
    title: titleOf(server, held),
    text: textOf(held),
    kind: held.some(({ findings }) => findings.length > 0) ? 'bad' : 'warn',
    act: { do: 'review', href: `/approvals?server=${encodeURIComponent(server)}` },
  }));
}

function titleOf(server: string, held: readonly AdminHeld[]): string {
  if (held.some(({ kind }) => kind === 'server')) return `${server} waits to be started`;
  if (held.length === 1 && held[0]?.kind === 'words') return `What ${server} says of itself is held`;
  return `${plural(held.length, 'entry', 'entries')} of ${server} ${held.length === 1 ? 'is' : 'are'} held`;
}

function textOf(held: readonly AdminHeld[]): string {
  if (held.some(({ kind }) => kind === 'server')) return 'Nothing of it runs before you approve it.';
  const count = (reason: AdminHeld['reason']): number => held.filter((each) => each.reason === reason).length;
  const parts = [
    [count('changed'), 'changed since you approved it'],
    [count('new'), 'new'],
    [count('suspicious'), 'suspicious'],
  ] as const;
  return `${parts.flatMap(([number, word]) => (number === 0 ? [] : [`${number} ${word}`])).join(', ')}. Clients do not see ${held.length === 1 ? 'it' : 'them'} meanwhile.`;
}

function signIn({ name, state, problem }: AdminServer): Need[] {
  if (state !== 'needs-auth') return [];
  return [
    {
      id: `sign-in ${name}`,
      title: `${name} needs you to sign in`,
      text: problem?.message ?? 'It does not answer before somebody has.',
      kind: 'warn',
      act: { do: 'sign-in', server: name },
    },
  ];
}

function failed({ name, state, problem }: AdminServer): Need[] {
  if (state !== 'failed') return [];
  const text = problem?.message ?? 'Its log says more.';
  const act = { do: 'restart', server: name } as const;
  return [{ id: `failed ${name}`, title: `${name} does not work`, text, kind: 'bad', act }];
}

function retrying({ name, state, problem }: AdminServer): Need[] {
  // While it is tried again, nothing is better yet.
  if (state !== 'waiting' && (state !== 'connecting' || problem === undefined)) return [];
  const attempts = problem?.attempts === undefined ? '' : ` after ${plural(problem.attempts, 'attempt')}`;
  const title = `${name} is not reached${attempts}`;
  const act = { do: 'try', server: name } as const;
  return [{ id: `waiting ${name}`, title, text: problem?.message ?? '', kind: 'warn', act }];
}
