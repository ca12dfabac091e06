import type { AuditRecord } from '../../../../src/admin/contract/contract.ts';
import { bytes, dateTime, duration, time } from '../../lib/format.ts';
import { useNarrow } from '../../lib/use-narrow.ts';
import { visible } from '../../lib/visible.ts';
import type { Column } from '../../parts/data/column.ts';
import { Table } from '../../parts/data/table.tsx';
import { EmptyState } from '../../parts/page/empty-state.tsx';
import { OutcomeBadge } from './outcome-badge.tsx';

interface RecordTableProps {
  readonly records: readonly AuditRecord[];
  readonly scope: string;
  readonly onOpen: (record: AuditRecord) => void;
}

export function RecordTable({ records, scope, onOpen }: RecordTableProps) {
  return (
    <Table
      label="Records"
      rows={records}
      columns={columns}
      keyOf={({ seq }) => String(seq)}
      onOpen={onOpen}
      scope={scope}
      rowHeight={useNarrow() ? 48 : 36}
      maxHeight="60dvh"
      empty={
        <EmptyState title="Nothing was done in this time">
          <p>
            Calls appear here while they happen. Widen the time, take a filter away, or try a tool under{' '}
            <a href="/tools">Tools</a>.
          </p>
        </EmptyState>
      }
    />
  );
}

const columns: readonly Column<AuditRecord>[] = [
  {
    name: 'at',
    title: 'Time',
    width: '72px',
    cell: ({ at }) => (
      <span class="number" title={dateTime(at)}>
        {time(at)}
      </span>
    ),
  },
  {
    name: 'outcome',
    title: 'Outcome',
    width: '96px',
    cell: (record) => <OutcomeBadge record={record} />,
  },
  {
    name: 'what',
    title: 'What',
    width: 'minmax(0, 1.6fr)',
    cell: ({ server, entry, kind, action }) => (
      <span class="record-what">
        {action !== undefined && <span>{visible(kind === action ? kind : `${kind}: ${action}`)} </span>}
        <span class="mono">{visible(entry ?? (action === undefined ? kind : ''))}</span>
        {server !== undefined && <span class="faint"> {visible(server)}</span>}
      </span>
    ),
  },
  {
    name: 'who',
    title: 'Who',
    width: 'minmax(0, 1fr)',
    isWideOnly: true,
    cell: ({ caller, client }) => (
      <>
        {visible(caller)}
        {client !== undefined && <span class="faint"> {visible(client)}</span>}
      </>
    ),
  },
  {
    name: 'ms',
    title: 'Took',
    width: '76px',
    align: 'right',
    isWideOnly: true,
    cell: ({ ms }) => (ms === undefined ? '' : duration(ms)),
  },
  {
    name: 'size',
    title: 'Result',
    width: '76px',
    align: 'right',
    isWideOnly: true,
    cell: ({ bytesOut }) => (bytesOut === undefined ? '' : bytes(bytesOut)),
  },
];
