import type { AdminServer } from '../../../../src/admin/contract.ts';
import { shownState } from '../../lib/shown-state.ts';

/** The one thing that makes a server usable again. */
export type Mending = 'approve' | 'sign-in' | 'try' | 'edit' | 'enable';

export const mendingWords: Readonly<Record<Mending, string>> = {
  approve: 'Review',
  'sign-in': 'Sign in',
  try: 'Try now',
  edit: 'Edit',
  enable: 'Enable',
};

export function mendingOf(server: AdminServer): Mending | undefined {
  switch (shownState(server)) {
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
      return undefined;
  }
}
