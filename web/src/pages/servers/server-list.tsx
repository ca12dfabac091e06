import { useMemo } from 'preact/hooks';

import type { AdminServer } from '../../../../src/admin/contract/contract.ts';
import { Badge } from '../../components/badge.tsx';
import type { Column } from '../../components/data/column.ts';
import { Table } from '../../components/data/table.tsx';
import { EmptyState } from '../../components/page/empty-state.tsx';
import { StateDot } from '../../components/state-dot.tsx';
import { stateStyles } from '../../components/state-styles.ts';
import { formatCount, formatRelative, pluralize } from '../../lib/format.ts';
import { useNarrow } from '../../lib/use-narrow.ts';
import { useStore } from '../../store/use-store.ts';
import { RemedyButton } from './remedy-button.tsx';
import { serverUrl } from './run-server-action.ts';
import { countHeld } from './server-remedy.ts';
import { describeOtherEntries, describeRetry, describeTransport } from './server-text.ts';

interface ServerListProps {
  readonly servers: readonly AdminServer[];
  readonly query: string;
}

/** The height of a row in pixels. */
const ROW_HEIGHT = 54;
/** The maximum number of rows that are shown in full instead of in a scrollable box. */
const MAX_UNSCROLLED_ROWS = 60;

export function ServerList({ servers, query }: ServerListProps) {
  const { router } = useStore();
  const rows = useMemo(() => servers.filter((server) => matchesQuery(server, query)), [servers, query]);
  return (
    <Table
      label="Servers"
      rows={rows}
      columns={columns}
      keyOf={({ name }) => name}
      onOpen={({ name }) => router.go(serverUrl(name))}
      initialOrder={{ column: 'name', isDescending: false }}
      rowHeight={ROW_HEIGHT}
      scope={query}
      maxHeight={servers.length <= MAX_UNSCROLLED_ROWS ? 'none' : undefined}
      empty={
        <EmptyState title="No server matches">
          <p>Names, descriptions, commands and URLs are searched. Try fewer letters.</p>
        </EmptyState>
      }
    />
  );
}

function matchesQuery(server: AdminServer, query: string): boolean {
  const { name, description = '' } = server;
  const text = `${name} ${description} ${describeTransport(server)}`;
  return text.toLowerCase().includes(query.trim().toLowerCase());
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
    sort: (server) => stateStyles[server.state]?.label ?? '',
  },
  {
    name: 'tools',
    title: 'Entries',
    width: '150px',
    isWideOnly: true,
    cell: (server) => (
      <>
        {server.listedAt === undefined ? <span class="faint">–</span> : pluralize(server.tools, 'tool')}
        <span class="second faint">{describeOtherEntries(server)}</span>
      </>
    ),
    sort: ({ tools }) => tools,
  },
  {
    name: 'listed',
    title: 'Listed',
    width: '92px',
    isWideOnly: true,
    cell: ({ listedAt }) => <ListedCell listedAt={listedAt} />,
    sort: ({ listedAt = 0 }) => listedAt,
  },
  {
    name: 'action',
    title: 'Action',
    width: '84px',
    align: 'right',
    cell: (server) => <RemedyButton server={server} />,
  },
];

function NameCell({ server }: { server: AdminServer }) {
  const { approvals } = useStore();
  const { name, description, problem, state } = server;
  const heldEntries = countHeld(name, approvals.value.value);
  // The state column already says that the server is held.
  const shownProblem = state === 'held' ? undefined : problem;
  return (
    <>
      <span class="server-line">
        {useNarrow() && <StateDot state={state} />}
        <a class="server-name truncated" href={serverUrl(name)}>
          {name}
        </a>
        {heldEntries > 0 && (
          <a href={`/approvals?server=${encodeURIComponent(name)}`}>
            <Badge kind="warn">{formatCount(heldEntries)} held</Badge>
          </a>
        )}
        {description !== undefined && <span class="soft truncated">{description}</span>}
      </span>
      <span class={`second truncated ${shownProblem === undefined ? 'faint mono' : 'problem'}`}>
        {shownProblem?.message ?? describeTransport(server)}
      </span>
    </>
  );
}

function StateCell({ server }: { server: AdminServer }) {
  const { now } = useStore();
  const { inFlight } = server;
  const detail = describeRetry(server, now.value) || (inFlight > 0 ? `${formatCount(inFlight)} running` : '');
  return (
    <>
      <StateDot state={server.state} />
      <span class="second faint" title={detail}>
        {detail}
      </span>
    </>
  );
}

function ListedCell({ listedAt }: { listedAt: number | undefined }) {
  const { now } = useStore();
  return <span class="faint">{listedAt === undefined ? '–' : formatRelative(listedAt, now.value)}</span>;
}
