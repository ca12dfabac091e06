import { useMemo } from 'preact/hooks';

import type { AdminLatency, AdminServer } from '../../../../src/admin/contract/contract.ts';
import { count, duration } from '../../lib/format.ts';
import { Sparkline } from '../../parts/charts/sparkline.tsx';
import type { Column } from '../../parts/data/column.ts';
import { Table } from '../../parts/data/table.tsx';
import { EmptyState } from '../../parts/page/empty-state.tsx';
import { looks } from '../../parts/state-look.ts';
import { StateDot } from '../../parts/state-dot.tsx';

interface ServerTableProps {
  readonly servers: readonly AdminServer[];
  readonly latency: AdminLatency | undefined;
  readonly onOpen: (name: string) => void;
}

type Latency = AdminLatency['servers'][number];

/** Trouble first. */
const rank: Readonly<Record<string, number>> = { bad: 0, warn: 1, busy: 2, good: 3, idle: 4, off: 5 };

export function ServerTable({ servers, latency, onOpen }: ServerTableProps) {
  const columns = useMemo(() => {
    const byServer = new Map(latency?.servers.map((each) => [each.server, each]));
    return columnsWith((name) => byServer.get(name));
  }, [latency]);
  return (
    <Table
      label="Servers"
      rows={servers}
      columns={columns}
      keyOf={({ name }) => name}
      onOpen={({ name }) => onOpen(name)}
      firstOrder={{ column: 'state', isDown: false }}
      rowHeight={40}
      empty={
        <EmptyState title="No servers yet">
          <p>
            Add one under <a href="/servers">Servers</a>, or take over those of your other clients:{' '}
            <code>trunkline import</code>
          </p>
        </EmptyState>
      }
    />
  );
}

function columnsWith(latencyOf: (name: string) => Latency | undefined): readonly Column<AdminServer>[] {
  return [
    {
      name: 'state',
      title: 'State',
      width: 'minmax(112px, 0.5fr)',
      cell: (server) => <StateDot state={server.state} />,
      sort: (server) => `${rank[looks[server.state]?.kind ?? 'idle'] ?? 9} ${server.name}`,
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
          <span class="server-what faint">{whatIs(server)}</span>
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
      sort: ({ name }) => lastOf(latencyOf(name)) ?? -1,
    },
    {
      name: 'flight',
      title: 'Running',
      width: '64px',
      align: 'right',
      isWideOnly: true,
      cell: ({ inFlight }) => (inFlight === 0 ? <span class="faint">–</span> : count(inFlight)),
      sort: ({ inFlight }) => inFlight,
    },
    {
      name: 'tools',
      title: 'Tools',
      width: '52px',
      align: 'right',
      cell: ({ tools, enabled }) => (enabled ? count(tools) : <span class="faint">–</span>),
      sort: ({ tools }) => tools,
    },
  ];
}

function LatencyCell({ latency, name }: { latency: Latency | undefined; name: string }) {
  const last = lastOf(latency);
  const said = last === undefined ? 'no calls' : duration(last);
  return (
    <span class="latency">
      <Sparkline values={latency?.p50 ?? []} label={`${name}: ${said} in the last hour`} />
      <span class={last === undefined ? 'faint' : 'number'}>{said}</span>
    </span>
  );
}

function lastOf(latency: Latency | undefined): number | undefined {
  return latency?.p50.findLast((value) => value !== null) ?? undefined;
}

function whatIs({ description, transport }: AdminServer): string {
  if (description !== undefined) return description;
  if (transport === undefined) return '';
  return transport.kind === 'http' ? transport.url : [transport.command, ...transport.args].join(' ');
}
