import type { Snapshot } from '../../catalog/snapshot.ts';
import type { Waiting } from '../../gateway/quarantine.ts';
import { nameOf } from '../../policy/ask/asked-call.ts';
import type { WaitingCall } from '../../policy/ask/waiting-calls.ts';
import type { AdminApprovals, AdminHeld, AdminWaitingCall } from '../contract/approval-contract.ts';
import { definitionChanges } from './definition-changes.ts';
import type { AdminDeps } from '../deps.ts';
import { heldTransport } from './held-transport.ts';

/** Everything that waits for a person. */
export async function approvalsShown(deps: AdminDeps): Promise<AdminApprovals> {
  const { gateway } = deps;
  const { quarantine, waiting, sight } = gateway;
  const lock = quarantine.lock?.file;
  return {
    held: (await quarantine.waiting()).map((each) => heldShown(each, deps, sight.whole)),
    calls: waiting.list().map(callShown),
    ...(lock !== undefined && { lock }),
  };
}

function heldShown(
  { server, subject, reason, approved, findings }: Waiting,
  { config }: AdminDeps,
  { held }: Snapshot,
): AdminHeld {
  const { kind, name, fingerprint } = subject;
  const upstream = config().value.upstreams.find((each) => each.name === server);
  const offered =
    kind === 'server' && upstream !== undefined ? heldTransport(upstream.transport) : subject.definition;
  const entries = kind === 'tool' ? held.tools : held.prompts;
  const exposed =
    kind === 'tool' || kind === 'prompt'
      ? [...entries.values()].find(({ entry }) => entry.upstream === server && entry.definition.name === name)
      : undefined;
  return {
    ...{ server, kind, name, fingerprint, reason, offered },
    ...(exposed !== undefined && { exposed: exposed.entry.name }),
    ...(approved !== undefined && {
      approved: { fingerprint: approved.fingerprint, definition: approved.definition },
    }),
    changes: definitionChanges(approved?.definition, offered),
    findings,
  };
}

export function callShown({ id, call, since, until, isOpen }: WaitingCall): AdminWaitingCall {
  const { caller, entry, arguments: args, rule, message } = call;
  return {
    ...{ id, caller: caller.id, profile: caller.profile, server: entry.upstream, name: nameOf(entry) },
    ...{ arguments: args, rule, since, until, isOpen },
    ...(message !== undefined && { message }),
  };
}
