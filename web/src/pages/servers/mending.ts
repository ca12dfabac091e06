import type { AdminApprovals, AdminServer } from '../../../../src/admin/contract/contract.ts';

/** The one thing that makes a server usable again. */
export type Mending = 'approve' | 'sign-in' | 'try' | 'edit' | 'enable';

export const mendingWords: Readonly<Record<Mending, string>> = {
  approve: 'Review',
  'sign-in': 'Sign in',
  try: 'Try now',
  edit: 'Edit',
  enable: 'Enable',
};

/** How much a server offers that waits for a decision. */
export function heldOf(name: string, approvals: AdminApprovals | undefined): number {
  const isWaiting = ({ server, kind, reason }: AdminApprovals['held'][number]): boolean =>
    server === name && kind !== 'server' && reason !== 'refused';
  return approvals?.held.filter(isWaiting).length ?? 0;
}

/** `held` counts what it offers and nobody has decided about. */
export function mendingOf(server: AdminServer, held = 0): Mending | undefined {
  switch (server.state) {
    case 'held':
      return 'approve';
    case 'needs-auth':
      return 'sign-in';
    case 'waiting':
      return 'try';
    // Waiting does not mend it; what is written of it does.
    case 'failed':
      return 'edit';
    case 'disabled':
      return 'enable';
    default:
      return held > 0 ? 'approve' : undefined;
  }
}
