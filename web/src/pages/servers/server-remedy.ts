import type { AdminApprovals, AdminServer } from '../../../../src/admin/contract/contract.ts';

/** The action that makes a server usable again. */
export type Remedy = 'approve' | 'sign-in' | 'try' | 'edit' | 'enable';

export const remedyLabels: Readonly<Record<Remedy, string>> = {
  approve: 'Review',
  'sign-in': 'Sign in',
  try: 'Try now',
  edit: 'Edit',
  enable: 'Enable',
};

/** Returns the number of undecided held entries of a server. */
export function countHeld(name: string, approvals: AdminApprovals | undefined): number {
  const isUndecided = ({ server, kind, reason }: AdminApprovals['held'][number]): boolean =>
    server === name && kind !== 'server' && reason !== 'refused';
  return approvals?.held.filter(isUndecided).length ?? 0;
}

/** Returns the remedy for the state of a server. A usable server with held entries needs a review. */
export function findRemedy(server: AdminServer, heldEntries = 0): Remedy | undefined {
  switch (server.state) {
    case 'held':
      return 'approve';
    case 'needs-auth':
      return 'sign-in';
    case 'waiting':
      return 'try';
    // The gateway does not retry a failed server: its configuration must change.
    case 'failed':
      return 'edit';
    case 'disabled':
      return 'enable';
    default:
      return heldEntries > 0 ? 'approve' : undefined;
  }
}
