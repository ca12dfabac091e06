import { useMemo } from 'preact/hooks';

import type { AdminServer } from '../../../../src/admin/contract/contract.ts';
import { count, plural, relative } from '../../lib/format.ts';
import { useNarrow } from '../../lib/use-narrow.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/data/column.ts';
import { Table } from '../../parts/data/table.tsx';
import { EmptyState } from '../../parts/page/empty-state.tsx';
import { looks } from '../../parts/state-look.ts';
import { StateDot } from '../../parts/state-dot.tsx';
import { useStore } from '../../store/use-store.ts';
import { serverPath } from './act-on-server.ts';
import { MendButton } from './mend-button.tsx';
import { heldOf } from './mending.ts';
import { otherOffers, reachedAs, retryWords } from './server-words.ts';

interface ServerListProps {
  readonly servers: readonly AdminServer[];
  readonly query: string;
}

const ROW = 54;

export function ServerList({ servers, query }: ServerListProps) {
  const { router } = useStore();
  const rows = useMemo(() => servers.filter((server) => isFound(server, query)), [servers, query]);
  return (
    <Table
      label="Servers"
      rows={rows}
      columns={columns}
      keyOf={({ name }) => name}
      onOpen={({ name }) => router.go(serverPath(name))}
      firstOrder={{ column: 'name', isDown: false }}
      rowHeight={ROW}
      scope={query}
      {...(servers.length <= 60 && { maxHeight: 'none' })}
      empty={
        <EmptyState title="No server is called like this">
          <p>Names, descriptions, commands and addresses are searched. Try fewer letters.</p>
        </EmptyState>
      }
    />
  );
}

const columns: readonly Column<AdminServer>[] = [
  {
    name: 'name',
    title: 'Server',
    width: 'minmax(0, 2.4fr)',
    cell: (server) => <NameCell server={server} />,
    sort: ({ name }) => name,
  },
  {
    name: 'state',
    title: 'State',
    width: '164px',
    isWideOnly: true,
    cell: (server) => <StateCell server={server} />,
    sort: (server) => looks[server.state]?.word ?? '',
  },
  {
    name: 'tools',
    title: 'Offers',
    width: '150px',
    isWideOnly: true,
    cell: (server) => (
      <>
        {server.listedAt === undefined ? <span class="faint">–</span> : plural(server.tools, 'tool')}
        <span class="second faint">{otherOffers(server)}</span>
      </>
    ),
    sort: ({ tools }) => tools,
  },
  {
    name: 'listed',
    title: 'Listed',
    width: '92px',
    isWideOnly: true,
    cell: ({ listedAt }) => <Listed at={listedAt} />,
    sort: ({ listedAt = 0 }) => listedAt,
  },
  {
    name: 'mend',
    title: 'Needs',
    width: '84px',
    align: 'right',
    cell: (server) => <MendButton server={server} />,
  },
];

function NameCell({ server }: { server: AdminServer }) {
  const { approvals } = useStore();
  const { name, description, problem } = server;
  const isHeldWhole = server.state === 'held';
  const held = heldOf(name, approvals.value.value);
  return (
    <>
      <span class="server-line">
        {useNarrow() && <StateDot state={server.state} />}
        <a class="server-name cut" href={serverPath(name)}>
          {name}
        </a>
        {held > 0 && (
          <a href={`/approvals?server=${encodeURIComponent(name)}`}>
            <Badge kind="warn">{count(held)} held</Badge>
          </a>
        )}
        {description !== undefined && <span class="soft cut">{description}</span>}
      </span>
      <span class={`second cut ${problem === undefined || isHeldWhole ? 'faint mono' : 'problem'}`}>
        {problem === undefined || isHeldWhole ? reachedAs(server) : problem.message}
      </span>
    </>
  );
}

function StateCell({ server }: { server: AdminServer }) {
  const { now } = useStore();
  const { inFlight } = server;
  const second = retryWords(server, now.value) || (inFlight > 0 ? `${count(inFlight)} running` : '');
  return (
    <>
      <StateDot state={server.state} />
      <span class="second faint" title={second}>
        {second}
      </span>
    </>
  );
}

function Listed({ at }: { at: number | undefined }) {
  const { now } = useStore();
  return <span class="faint">{at === undefined ? '–' : relative(at, now.value)}</span>;
}

function isFound(server: AdminServer, query: string): boolean {
  const { name, description = '' } = server;
  return `${name} ${description} ${reachedAs(server)}`.toLowerCase().includes(query.trim().toLowerCase());
}
