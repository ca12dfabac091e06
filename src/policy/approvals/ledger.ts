import type { UpstreamName } from '../../model/ids.ts';
import type { Approval } from './approval-rows.ts';
import type { ApprovalKind } from './subject.ts';

/** What was approved and refused, in memory: at most one of each for every entry. */
export class Ledger {
  readonly #approvals = new Map<UpstreamName, Map<string, Approval>>();

  constructor(approvals: Iterable<Approval> = []) {
    for (const approval of approvals) this.add(approval);
  }

  add(approval: Approval): void {
    const { upstream, kind, name, state, fingerprint } = approval;
    let own = this.#approvals.get(upstream);
    if (own === undefined) this.#approvals.set(upstream, (own = new Map<string, Approval>()));
    own.set(keyOf(kind, name, state), approval);
    const opposite = keyOf(kind, name, state === 'approved' ? 'refused' : 'approved');
    if (own.get(opposite)?.fingerprint === fingerprint) own.delete(opposite);
  }

  find(
    upstream: UpstreamName,
    kind: ApprovalKind,
    name: string,
    state: Approval['state'] = 'approved',
  ): Approval | undefined {
    return this.#approvals.get(upstream)?.get(keyOf(kind, name, state));
  }

  upstreams(): readonly UpstreamName[] {
    return [...this.#approvals.keys()];
  }

  /** Whether anything that the server offers was ever approved. */
  knows(upstream: UpstreamName): boolean {
    const own = this.#approvals.get(upstream)?.values() ?? [];
    return [...own].some(({ kind, state }) => kind !== 'server' && state === 'approved');
  }

  /** Forgets what was approved; what was refused stays refused. */
  forget(upstream: UpstreamName): void {
    const own = this.#approvals.get(upstream);
    for (const [key, { state }] of own ?? []) if (state === 'approved') own?.delete(key);
  }
}

function keyOf(kind: ApprovalKind, name: string, state: Approval['state']): string {
  return `${kind} ${state} ${name}`;
}
