import type { AdminTool } from '../../../../src/admin/contract/contract.ts';
import { Badge } from '../../parts/badge.tsx';

const looks = {
  read: { kind: 'plain', word: 'reads' },
  write: { kind: 'warn', word: 'writes' },
  destructive: { kind: 'bad', word: 'destroys' },
} as const;

/** What calling a tool can do. */
export function TierBadge({ tier }: { readonly tier: AdminTool['tier'] }) {
  const { kind, word } = looks[tier];
  return <Badge kind={kind}>{word}</Badge>;
}
