import { useMemo } from 'preact/hooks';

import type { AdminLatency, AdminServer } from '../../../../src/admin/contract/contract.ts';
import { formatCount, formatDuration } from '../../lib/format.ts';
import { Sparkline } from '../../components/charts/sparkline.tsx';
import type { Column } from '../../components/data/column.ts';
import { Table } from '../../components/data/table.tsx';
import { EmptyState } from '../../components/page/empty-state.tsx';
import { stateStyles } from '../../components/state-styles.ts';
import { StateDot } from '../../components/state-dot.tsx';

interface ServerTableProps {
  readonly servers: readonly AdminServer[];
  readonly latency: AdminLatency | undefined;
  readonly onOpen: (name: string) => void;
}

type Latency = AdminLatency['servers'][number];

/** The sort order of states: problems first. */
const stateRanks: Readonly<Record<string, number>> = { bad: 0, warn: 1, busy: 2, good: 3, idle: 4, off: 5 };

/** The maximum number of rows that are shown in full instead of in a scrollable box. */
const MAX_UNSCROLLED_ROWS = 60;

export function ServerTable({ servers, latency, onOpen }: ServerTableProps) {
  const columns = useMemo(() => {
    const byServer = new Map(latency?.servers.map((entry) => [entry.server, entry]));
    return createColumns((name) => byServer.get(name));
  }, [latency]);
  return (
    <Table
      label="Servers"
      rows={servers}
      columns={columns}
      keyOf={({ name }) => name}
      onOpen={({ name }) => onOpen(name)}
      initialOrder={{ column: 'state', isDescending: false }}
      rowHeight={40}
      maxHeight={servers.length <= MAX_UNSCROLLED_ROWS ? 'none' : undefined}
      empty={
        <EmptyState title="No servers yet">
          <p>
            Add one under <a href="/servers">Servers</a>, or import the servers of your other clients:{' '}
            <code>trunkline import</code>
          </p>
        </EmptyState>
      }
    />
  );
}

function createColumns(latencyOf: (name: string) => Latency | undefined): readonly Column<AdminServer>[] {
  return [
    {
      name: 'state',
      title: 'State',
      width: 'minmax(112px, 0.5fr)',
      cell: (server) => <StateDot state={server.state} />,
      sort: (server) => `${stateRanks[stateStyles[server.state]?.kind ?? 'idle'] ?? 9} ${server.name}`,
    },
    {
      name: 'name',
      title: 'Server',
      width: 'minmax(0, 1.6fr)',
      cell: (server) => (
        <>
          <a class="server-name" href={`/servers?server=${encodeURIComponent(server.name)}`}>
            {server.name}
          </a>
          <span class="server-summary faint">{summarize(server)}</span>
        </>
      ),
      sort: ({ name }) => name,
    },
    {
      name: 'latency',
      title: 'Median, last hour',
      width: '190px',
      isWideOnly: true,
      cell: ({ name }) => <LatencyCell latency={latencyOf(name)} name={name} />,
      sort: ({ name }) => lastValue(latencyOf(name)) ?? -1,
    },
    {
      name: 'flight',
      title: 'Running',
      width: '64px',
      align: 'right',
      isWideOnly: true,
      cell: ({ inFlight }) => (inFlight === 0 ? <span class="faint">–</span> : formatCount(inFlight)),
      sort: ({ inFlight }) => inFlight,
    },
    {
      name: 'tools',
      title: 'Tools',
      width: '52px',
      align: 'right',
      cell: ({ tools, enabled }) => (enabled ? formatCount(tools) : <span class="faint">–</span>),
      sort: ({ tools }) => tools,
    },
  ];
}

function LatencyCell({ latency, name }: { latency: Latency | undefined; name: string }) {
  const last = lastValue(latency);
  const text = last === undefined ? 'no calls' : formatDuration(last);
  return (
    <span class="latency">
      <Sparkline values={latency?.p50 ?? []} label={`${name}: ${text} in the last hour`} />
      <span class={last === undefined ? 'faint' : 'number'}>{text}</span>
    </span>
  );
}

function lastValue(latency: Latency | undefined): number | undefined {
  return latency?.p50.findLast((value) => value !== null) ?? undefined;
}

function summarize({ description, transport }: AdminServer): string {
  if (description !== undefined) return description;
  if (transport === undefined) return '';
  return transport.kind === 'http' ? transport.url : [transport.command, ...transport.args].join(' ');
}
