import { useEffect, useRef, useState } from 'preact/hooks';

import type { AdminServer } from '../../../../src/admin/contract/contract.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/page/empty-state.tsx';
import { PageHead } from '../../components/page/page-head.tsx';
import { ResourceContent } from '../../components/page/resource-content.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { stateStyles } from '../../components/state-styles.ts';
import { formatCount } from '../../lib/format.ts';
import { useLoad, useStore } from '../../store/use-store.ts';
import { AddDialog, addMethods, type AddMethod } from './add/add-dialog.tsx';
import { ServerDetail } from './detail/server-detail.tsx';
import { ServerList } from './server-list.tsx';

/** Lists the servers. `?server=` shows the details of one, and `?add=` opens the dialog to add servers. */
export function Servers() {
  const { status, config, approvals, signIns, router } = useStore();
  useLoad(status, config, approvals, signIns);
  const query = router.query.value;
  const name = query.get('server');
  const isFirst = useRef(true);
  useEffect(() => {
    // Keyboard users continue at the beginning of the new content.
    if (!isFirst.current) document.getElementById('main')?.focus();
    isFirst.current = false;
  }, [name]);
  const method = addMethods.find((candidate) => candidate === query.get('add'));
  return (
    <>
      <ResourceContent resource={status}>
        {({ servers }) =>
          name === null ? <AllServers servers={servers} /> : <OneServer servers={servers} name={name} />
        }
      </ResourceContent>
      {method !== undefined && <AddDialog method={method} onClose={() => router.set({ add: undefined })} />}
    </>
  );
}

function AllServers({ servers }: { servers: readonly AdminServer[] }) {
  const { api, config, notices, router, status } = useStore();
  const [query, setQuery] = useState('');
  const isReadOnly = config.value.value?.readOnly === true;
  const openAddDialog = (method: AddMethod): void => router.set({ add: method });
  return (
    <>
      <PageHead title="Servers" aside={summarize(servers)}>
        {servers.length > 0 && (
          <Button
            onPress={async () => {
              await api.request('POST /api/refresh', {});
              notices.showMessage('All servers were refreshed.');
              status.refresh();
            }}
          >
            Refresh all
          </Button>
        )}
        {!isReadOnly && (
          <Button kind="main" onPress={() => openAddDialog('form')}>
            Add a server
          </Button>
        )}
      </PageHead>
      {isReadOnly && <ReadOnlyNote />}
      {servers.length === 0 ? (
        <NoServers onAdd={openAddDialog} />
      ) : (
        <>
          {servers.length > 6 && (
            <SearchField label="Search servers" value={query} onChange={setQuery} hasShortcut />
          )}
          <ServerList servers={servers} query={query} />
        </>
      )}
    </>
  );
}

/** Counts the servers by state, for example `9 usable · 2 need attention · 1 disabled`. */
function summarize(servers: readonly AdminServer[]): string {
  const kinds = servers.map((server) => stateStyles[server.state]?.kind ?? 'idle');
  const countOf = (...wanted: readonly string[]): number =>
    kinds.filter((kind) => wanted.includes(kind)).length;
  const needAttention = countOf('warn', 'bad');
  const parts = [
    [countOf('good', 'idle'), 'usable'],
    [countOf('busy'), 'starting'],
    [needAttention, needAttention === 1 ? 'needs attention' : 'need attention'],
    [countOf('off'), 'disabled'],
  ] as const;
  return parts
    .flatMap(([number, label]) => (number === 0 ? [] : [`${formatCount(number)} ${label}`]))
    .join(' · ');
}

function ReadOnlyNote() {
  const { config } = useStore();
  return (
    <p class="small soft">
      Servers can only be changed in the file <code>{config.value.value?.file}</code>, because it contains{' '}
      <code>"readOnly": true</code>.
    </p>
  );
}

function NoServers({ onAdd }: { onAdd: (method: AddMethod) => void }) {
  return (
    <EmptyState title="No servers yet">
      <p>
        Every MCP client has a list of servers in its settings. Paste such a list here, search the registry,
        or fill in a form. To import all servers of the clients on this machine, run{' '}
        <code>trunkline import</code>
      </p>
      <div class="actions">
        <Button kind="main" onPress={() => onAdd('paste')}>
          Paste a snippet
        </Button>
        <Button onPress={() => onAdd('registry')}>Search the registry</Button>
        <Button onPress={() => onAdd('form')}>Fill in a form</Button>
      </div>
    </EmptyState>
  );
}

function OneServer({ servers, name }: { servers: readonly AdminServer[]; name: string }) {
  const server = servers.find((candidate) => candidate.name === name);
  if (server !== undefined) return <ServerDetail key={name} server={server} />;
  return (
    <>
      <PageHead title="Servers" />
      <EmptyState title="This server does not exist">
        <a href="/servers">Show all servers</a>
      </EmptyState>
    </>
  );
}
