import type { AdminStatus } from '../admin/contract/contract.ts';

/** How a gateway runs, for sentences that say that it does. */
export const SHOWN_KIND: Readonly<Record<AdminStatus['kind'], string>> = {
  background: 'in the background',
  http: 'over HTTP',
  own: 'by itself',
};
