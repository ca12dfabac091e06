import type { AdminTool } from '../../../../src/admin/contract/contract.ts';
import { Badge } from '../../components/badge.tsx';

const tierStyles = {
  read: { kind: 'plain', label: 'read-only' },
  write: { kind: 'warn', label: 'writes' },
  destructive: { kind: 'bad', label: 'destructive' },
} as const;

/** Shows what calling a tool can do. */
export function TierBadge({ tier }: { readonly tier: AdminTool['tier'] }) {
  const { kind, label } = tierStyles[tier];
  return <Badge kind={kind}>{label}</Badge>;
}
