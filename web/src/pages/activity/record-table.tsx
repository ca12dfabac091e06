import type { AuditRecord } from '../../../../src/admin/contract/contract.ts';
import { formatBytes, formatDateTime, formatDuration, formatTime } from '../../lib/format.ts';
import { useNarrow } from '../../lib/use-narrow.ts';
import { escapeInvisible } from '../../lib/escape-invisible.ts';
import { Badge } from '../../components/badge.tsx';
import type { Column } from '../../components/data/column.ts';
import { Table } from '../../components/data/table.tsx';
import { EmptyState } from '../../components/page/empty-state.tsx';

interface RecordTableProps {
  readonly records: readonly AuditRecord[];
  readonly scope: string;
  readonly onOpen: (record: AuditRecord) => void;
}

/** Lists audit records. */
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
        <EmptyState title="No records in this period">
          <p>
            Calls appear here as they happen. Choose a longer period, remove a filter, or try a tool under{' '}
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
      <span class="number" title={formatDateTime(at)}>
        {formatTime(at)}
      </span>
    ),
  },
  {
    name: 'outcome',
    title: 'Outcome',
    width: '96px',
    cell: ({ outcome }) => <OutcomeBadge outcome={outcome} />,
  },
  {
    name: 'operation',
    title: 'Operation',
    width: 'minmax(0, 1.6fr)',
    cell: ({ server, entry, kind, action }) => (
      <span class="record-operation">
        {action !== undefined && (
          <span>{escapeInvisible(kind === action ? kind : `${kind}: ${action}`)} </span>
        )}
        <span class="mono">{escapeInvisible(entry ?? (action === undefined ? kind : ''))}</span>
        {server !== undefined && <span class="faint"> {escapeInvisible(server)}</span>}
      </span>
    ),
  },
  {
    name: 'caller',
    title: 'Caller',
    width: 'minmax(0, 1fr)',
    isWideOnly: true,
    cell: ({ caller, client }) => (
      <>
        {escapeInvisible(caller)}
        {client !== undefined && <span class="faint"> {escapeInvisible(client)}</span>}
      </>
    ),
  },
  {
    name: 'ms',
    title: 'Duration',
    width: '76px',
    align: 'right',
    isWideOnly: true,
    cell: ({ ms }) => (ms === undefined ? '' : formatDuration(ms)),
  },
  {
    name: 'size',
    title: 'Result',
    width: '76px',
    align: 'right',
    isWideOnly: true,
    cell: ({ bytesOut }) => (bytesOut === undefined ? '' : formatBytes(bytesOut)),
  },
];

function OutcomeBadge({ outcome }: Pick<AuditRecord, 'outcome'>) {
  if (outcome === 'ok') return <Badge kind="good">ok</Badge>;
  return <Badge kind={outcome === 'tool-error' ? 'warn' : 'bad'}>{outcome}</Badge>;
}
