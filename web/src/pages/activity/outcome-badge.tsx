import type { AuditRecord } from '../../../../src/admin/contract/contract.ts';
import { Badge } from '../../parts/badge.tsx';

/** How it ended, in a word. */
export function OutcomeBadge({ record }: { readonly record: Pick<AuditRecord, 'outcome'> }) {
  const { outcome } = record;
  if (outcome === 'ok') return <Badge kind="good">ok</Badge>;
  return <Badge kind={outcome === 'tool-error' ? 'warn' : 'bad'}>{outcome}</Badge>;
}
