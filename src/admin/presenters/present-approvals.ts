import type { Snapshot } from '../../catalog/snapshot.ts';
import type { HeldItem } from '../../gateway/held-entries.ts';
import type { ApprovalSubject } from '../../policy/approvals/approval-subject.ts';
import { entryLabel } from '../../policy/call-approvals/call-approval-request.ts';
import type { HeldCall } from '../../policy/call-approvals/held-calls.ts';
import type { AdminApprovals, AdminHeldItem, AdminHeldCall } from '../contract/approval-contract.ts';
import { compareDefinitions } from './compare-definitions.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { presentHeldServer } from './present-held-server.ts';

/** Returns everything that is held for approval. */
export async function presentApprovals(deps: AdminDeps): Promise<AdminApprovals> {
  const { gateway } = deps;
  const { heldEntries, heldCalls, visibility } = gateway;
  const lockfilePath = heldEntries.lock?.file;
  return {
    held: (await heldEntries.list()).map((item) => presentHeldItem(item, deps, visibility.unfiltered)),
    calls: heldCalls.list().map(presentHeldCall),
    lock: lockfilePath,
  };
}

function presentHeldItem(
  { server, subject, reason, approved, findings }: HeldItem,
  { config }: AdminDeps,
  { held }: Snapshot,
): AdminHeldItem {
  const { kind, name, fingerprint } = subject;
  const upstream = config().value.upstreams.find((configured) => configured.name === server);
  const offered =
    kind === 'server' && upstream !== undefined ? presentHeldServer(upstream) : subject.definition;
  // The stored definition of a server holds only a fingerprint.
  const before = kind === 'server' ? approved && {} : approved?.definition;
  return {
    server,
    kind,
    name,
    fingerprint,
    reason,
    offered,
    exposed: findExposedName(server, subject, held),
    approved: approved && { fingerprint: approved.fingerprint, definition: before ?? {} },
    changes: compareDefinitions(before, offered),
    findings,
  };
}

/** Returns the name under which clients would see a held tool or prompt; undefined for other kinds. */
function findExposedName(
  server: string,
  { kind, name }: ApprovalSubject,
  held: Snapshot['held'],
): string | undefined {
  if (kind !== 'tool' && kind !== 'prompt') return undefined;
  const entries = kind === 'tool' ? held.tools : held.prompts;
  for (const { entry } of entries.values())
    if (entry.upstream === server && entry.definition.name === name) return entry.name;
  return undefined;
}

export function presentHeldCall({ id, call, since, until, isOpen }: HeldCall): AdminHeldCall {
  const { caller, entry, arguments: args, rule, message } = call;
  return {
    id,
    caller: caller.id,
    profile: caller.profile,
    server: entry.upstream,
    name: entryLabel(entry),
    arguments: args,
    rule,
    since,
    until,
    isOpen,
    message,
  };
}
