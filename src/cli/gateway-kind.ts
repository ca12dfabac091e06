import type { AdminStatus } from '../admin/contract/contract.ts';

/** Completes the sentence "The gateway runs …". */
export const GATEWAY_KIND_TEXT: Readonly<Record<AdminStatus['kind'], string>> = {
  background: 'in the background',
  http: 'over HTTP',
  own: 'by itself',
};
