import { useMemo } from 'preact/hooks';

import type { AdminTool } from '../../../../src/admin/contract/contract.ts';
import { visible } from '../../lib/visible.ts';
import type { Column } from '../../parts/data/column.ts';
import { Table } from '../../parts/data/table.tsx';
import { EmptyState } from '../../parts/page/empty-state.tsx';
import { TierBadge } from './tier-badge.tsx';

interface ToolListProps {
  readonly tools: readonly AdminTool[];
  /** Whether the order says something; then it cannot be changed. */
  readonly isRanked: boolean;
  readonly scope: string;
  readonly addressOf: (tool: AdminTool) => string;
  readonly onOpen: (tool: AdminTool) => void;
}

export function ToolList({ tools, isRanked, scope, addressOf, onOpen }: ToolListProps) {
  // The scope is all that addresses depend on.
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- see above
  const columns = useMemo(() => columnsOf(addressOf, isRanked), [scope, isRanked]);
  return (
    <Table
      label="Tools"
      rows={tools}
      columns={columns}
      keyOf={({ name }) => name}
      onOpen={onOpen}
      scope={scope}
      rowHeight={48}
      maxHeight="calc(100dvh - 190px)"
      empty={
        <EmptyState title="Nothing fits">
          <p>Say it in other words, or take a filter away.</p>
        </EmptyState>
      }
    />
  );
}

/** What fits into no line is cut. */
const MOST_CHARS = 300;

function columnsOf(addressOf: (tool: AdminTool) => string, isRanked: boolean): readonly Column<AdminTool>[] {
  const columns = sortable(addressOf);
  return isRanked ? columns.map(({ sort: _, ...column }) => column) : columns;
}

const sortable = (addressOf: (tool: AdminTool) => string): readonly Column<AdminTool>[] => [
  {
    name: 'tool',
    title: 'Tool',
    width: 'minmax(0, 1fr)',
    cell: (tool) => (
      <>
        <span class="tool-line">
          <a class="tool-name mono" href={addressOf(tool)}>
            {visible(tool.name)}
          </a>
          {tool.title !== undefined && <span class="faint">{visible(tool.title.slice(0, MOST_CHARS))}</span>}
        </span>
        <span class="tool-what faint">{firstLine(tool.description)}</span>
      </>
    ),
    sort: ({ name }) => name,
  },
  {
    name: 'server',
    title: 'Server',
    width: 'minmax(90px, 160px)',
    isWideOnly: true,
    cell: ({ server }) => visible(server),
    sort: ({ server, name }) => `${server} ${name}`,
  },
  {
    name: 'tier',
    title: 'Effect',
    width: '96px',
    cell: ({ tier }) => <TierBadge tier={tier} />,
    sort: ({ tier }) => tier,
  },
];

function firstLine(text = ''): string {
  return visible((text.trim().split('\n', 1)[0] ?? '').slice(0, MOST_CHARS));
}
