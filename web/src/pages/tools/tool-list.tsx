import { useMemo } from 'preact/hooks';

import type { AdminTool } from '../../../../src/admin/contract/contract.ts';
import type { Column } from '../../components/data/column.ts';
import { Table } from '../../components/data/table.tsx';
import { EmptyState } from '../../components/page/empty-state.tsx';
import { escapeInvisible } from '../../lib/escape-invisible.ts';
import { TierBadge } from './tier-badge.tsx';

interface ToolListProps {
  readonly tools: readonly AdminTool[];
  /** Whether the tools are ordered by relevance. The table then cannot be sorted. */
  readonly isRanked: boolean;
  readonly scope: string;
  readonly urlOf: (tool: AdminTool) => string;
  readonly onOpen: (tool: AdminTool) => void;
}

export function ToolList({ tools, isRanked, scope, urlOf, onOpen }: ToolListProps) {
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- URLs depend on the scope only
  const columns = useMemo(() => createColumns(urlOf, isRanked), [scope, isRanked]);
  return (
    <Table
      label="Tools"
      rows={tools}
      columns={columns}
      keyOf={({ name }) => name}
      onOpen={onOpen}
      scope={scope}
      rowHeight={48}
      maxHeight="max(320px, calc(100dvh - 190px))"
      empty={
        <EmptyState title="No tool matches">
          <p>Use other words, or remove a filter.</p>
        </EmptyState>
      }
    />
  );
}

/** The maximum length of a title or description, in characters. Longer texts do not fit into a line. */
const MAX_LINE_CHARS = 300;

function createColumns(urlOf: (tool: AdminTool) => string, isRanked: boolean): readonly Column<AdminTool>[] {
  const columns = sortableColumns(urlOf);
  return isRanked ? columns.map(({ sort: _, ...column }) => column) : columns;
}

function sortableColumns(urlOf: (tool: AdminTool) => string): readonly Column<AdminTool>[] {
  return [
    {
      name: 'tool',
      title: 'Tool',
      width: 'minmax(0, 1fr)',
      cell: (tool) => (
        <>
          <span class="tool-line">
            <a class="tool-name mono" href={urlOf(tool)}>
              {escapeInvisible(tool.name)}
            </a>
            {tool.title !== undefined && <span class="faint">{firstLine(tool.title)}</span>}
          </span>
          <span class="tool-summary faint">{firstLine(tool.description)}</span>
        </>
      ),
      sort: ({ name }) => name,
    },
    {
      name: 'server',
      title: 'Server',
      width: 'minmax(90px, 160px)',
      isWideOnly: true,
      cell: ({ server }) => escapeInvisible(server),
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
}

function firstLine(text = ''): string {
  return escapeInvisible((text.trim().split('\n', 1)[0] ?? '').slice(0, MAX_LINE_CHARS));
}
