import { useMemo } from 'preact/hooks';

import type { AdminConnectedClient } from '../../../../src/admin/contract/contract.ts';
import type { Column } from '../../components/data/column.ts';
import { Table } from '../../components/data/table.tsx';
import { EmptyState } from '../../components/page/empty-state.tsx';
import { escapeInvisible } from '../../lib/escape-invisible.ts';
import { formatCount, formatDateTime, formatRelative } from '../../lib/format.ts';
import { useStore } from '../../store/use-store.ts';

export function ClientTable({ clients }: { readonly clients: readonly AdminConnectedClient[] }) {
  const { now, router } = useStore();
  const time = now.value;
  const columns = useMemo(() => createColumns(time), [time]);
  return (
    <Table
      label="Clients"
      rows={clients}
      columns={columns}
      keyOf={({ id }) => id}
      onOpen={({ caller }) => router.go(`/activity?caller=${encodeURIComponent(caller)}`)}
      rowHeight={54}
      maxHeight="max(320px, calc(100dvh - 200px))"
      empty={
        <EmptyState title="No client is connected">
          <p>
            Connect the clients on this machine with <code>trunkline connect</code>, and restart them. They
            appear here as soon as they use the gateway.
          </p>
        </EmptyState>
      }
    />
  );
}

function createColumns(now: number): readonly Column<AdminConnectedClient>[] {
  return [
    {
      name: 'client',
      title: 'Client',
      width: 'minmax(0, 1.5fr)',
      cell: ({ name, version, caller, profile, replica }) => (
        <>
          <span class="server-line">
            <span class="server-name truncated">{escapeInvisible(name ?? 'Without a name')}</span>
            <span class="faint number truncated">{escapeInvisible(version ?? '')}</span>
          </span>
          <span class="second faint truncated">
            {escapeInvisible(caller)}
            {profile !== 'default' && ` · profile ${escapeInvisible(profile)}`}
            {replica !== undefined && ` · replica ${replica}`}
          </span>
        </>
      ),
      sort: ({ name = '' }) => name,
    },
    {
      name: 'protocol',
      title: 'Protocol',
      width: '110px',
      isWideOnly: true,
      cell: ({ protocol, transport }) => (
        <>
          <span class="number">{escapeInvisible(protocol)}</span>
          <span class="second faint">{transport === 'http' ? 'HTTP' : 'stdio'}</span>
        </>
      ),
      sort: ({ protocol }) => protocol,
    },
    {
      name: 'exposure',
      title: 'Sees',
      width: 'minmax(110px, 150px)',
      isWideOnly: true,
      cell: ({ exposure, server }) => (
        <>
          {exposureLabels[exposure]}
          <span class="second faint truncated">
            {server === undefined ? 'all servers' : `only ${escapeInvisible(server)}`}
          </span>
        </>
      ),
      sort: ({ exposure }) => exposure,
    },
    {
      name: 'since',
      title: 'Connected',
      width: '96px',
      isWideOnly: true,
      cell: ({ since }) => <span title={formatDateTime(since)}>{formatRelative(since, now)}</span>,
      sort: ({ since }) => since,
    },
    {
      name: 'used',
      title: 'Last request',
      width: '96px',
      cell: ({ usedAt }) => <span title={formatDateTime(usedAt)}>{formatRelative(usedAt, now)}</span>,
      sort: ({ usedAt }) => usedAt,
    },
    {
      name: 'calls',
      title: 'Calls',
      width: '64px',
      align: 'right',
      cell: ({ calls }) => formatCount(calls),
      sort: ({ calls }) => calls,
    },
  ];
}

const exposureLabels = { direct: 'every tool', search: 'search', code: 'code' } as const;
