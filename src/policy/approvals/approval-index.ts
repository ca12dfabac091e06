import type { UpstreamName } from '../../core/ids.ts';
import type { Approval } from './approval-rows.ts';
import type { ApprovalKind } from './approval-subject.ts';

/** Holds approvals and refusals in memory, with at most one of each for a kind and name. */
export class ApprovalIndex {
  readonly #byUpstream = new Map<UpstreamName, Map<string, Approval>>();

  constructor(approvals: Iterable<Approval> = []) {
    for (const approval of approvals) this.add(approval);
  }

  add(approval: Approval): void {
    const { upstream, kind, name, state, fingerprint } = approval;
    let approvals = this.#byUpstream.get(upstream);
    if (approvals === undefined) this.#byUpstream.set(upstream, (approvals = new Map<string, Approval>()));
    approvals.set(subjectKey(kind, name, state), approval);
    // One definition cannot be both approved and refused. An older refusal of another definition stays, and vice versa.
    const oppositeKey = subjectKey(kind, name, state === 'approved' ? 'refused' : 'approved');
    if (approvals.get(oppositeKey)?.fingerprint === fingerprint) approvals.delete(oppositeKey);
  }

  find(
    upstream: UpstreamName,
    kind: ApprovalKind,
    name: string,
    state: Approval['state'] = 'approved',
  ): Approval | undefined {
    return this.#byUpstream.get(upstream)?.get(subjectKey(kind, name, state));
  }

  upstreams(): readonly UpstreamName[] {
    return [...this.#byUpstream.keys()];
  }

  /** Whether a tool, a prompt or the texts of the server are approved; the server's configuration alone does not count. */
  hasApproved(upstream: UpstreamName): boolean {
    const approvals = this.#byUpstream.get(upstream)?.values() ?? [];
    return [...approvals].some(({ kind, state }) => kind !== 'server' && state === 'approved');
  }

  /** Removes the approvals of a server; refusals remain. */
  forgetApproved(upstream: UpstreamName): void {
    const approvals = this.#byUpstream.get(upstream);
    for (const [key, { state }] of approvals ?? []) if (state === 'approved') approvals?.delete(key);
  }
}

function subjectKey(kind: ApprovalKind, name: string, state: Approval['state']): string {
  return `${kind} ${state} ${name}`;
}
