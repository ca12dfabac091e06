import { useEffect, useRef, useState } from 'preact/hooks';

import type { AdminServer } from '../../../../src/admin/contract/contract.ts';
import { count } from '../../lib/format.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/page/empty-state.tsx';
import { Loaded } from '../../parts/page/loaded.tsx';
import { PageHead } from '../../parts/page/page-head.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { looks } from '../../parts/state-look.ts';
import { useLoaded, useStore } from '../../store/use-store.ts';
import { AddDialog, ways, type Way } from './add/add-dialog.tsx';
import { ServerDetail } from './detail/server-detail.tsx';
import { ServerList } from './server-list.tsx';

/** Which servers there are and how they are; `?server=` shows one of them, `?add=` adds some. */
export function Servers() {
  const { status, config, approvals, signIns, router } = useStore();
  useLoaded(status, config, approvals, signIns);
  const query = router.query.value;
  const name = query.get('server');
  const isFirst = useRef(true);
  useEffect(() => {
    // The keyboard goes on in what has taken the place of what it was in.
    if (!isFirst.current) document.getElementById('main')?.focus();
    isFirst.current = false;
  }, [name]);
  const adding = ways.find((way) => way === query.get('add'));
  return (
    <>
      <Loaded from={status}>
        {({ servers }) => (name === null ? <All servers={servers} /> : <One servers={servers} name={name} />)}
      </Loaded>
      {adding !== undefined && <AddDialog way={adding} onClose={() => router.set({ add: undefined })} />}
    </>
  );
}

function All({ servers }: { servers: readonly AdminServer[] }) {
  const { api, config, notices, router, status } = useStore();
  const [query, setQuery] = useState('');
  const isReadOnly = config.value.value?.readOnly === true;
  const add = (way: Way): void => router.set({ add: way });
  return (
    <>
      <PageHead title="Servers" aside={summary(servers)}>
        {servers.length > 0 && (
          <Button
            onPress={async () => {
              await api.ask('POST /api/refresh', {});
              notices.say('All servers were listed again.');
              status.refresh();
            }}
          >
            List all again
          </Button>
        )}
        {!isReadOnly && (
          <Button kind="main" onPress={() => add('form')}>
            Add a server
          </Button>
        )}
      </PageHead>
      {isReadOnly && <ReadOnlyNote />}
      {servers.length === 0 ? (
        <NoServers onAdd={add} />
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

function One({ servers, name }: { servers: readonly AdminServer[]; name: string }) {
  const server = servers.find((each) => each.name === name);
  if (server !== undefined) return <ServerDetail key={name} server={server} />;
  return (
    <>
      <PageHead title="Servers" />
      <EmptyState title="There is no such server any more">
        <a href="/servers">Show those that there are</a>
      </EmptyState>
    </>
  );
}

function NoServers({ onAdd }: { onAdd: (way: Way) => void }) {
  return (
    <EmptyState title="No servers yet">
      <p>
        Every MCP client has a list of servers in its settings. Paste it here, look one up in the registry, or
        say yourself what is to be run. To take over all servers of the clients on this machine:{' '}
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

function ReadOnlyNote() {
  const { config } = useStore();
  return (
    <p class="small soft">
      Servers are changed by hand alone, in <code>{config.value.value?.file}</code>, since it says{' '}
      <code>"readOnly": true</code>.
    </p>
  );
}

/** `9 ready, 2 need you, 1 disabled`. */
function summary(servers: readonly AdminServer[]): string {
  const kinds = servers.map((server) => looks[server.state]?.kind ?? 'idle');
  const number = (...wanted: readonly string[]): number =>
    kinds.filter((kind) => wanted.includes(kind)).length;
  const parts = [
    [number('good', 'idle'), 'usable'],
    [number('busy'), 'connecting'],
    [number('warn', 'bad'), 'in trouble'],
    [number('off'), 'disabled'],
  ] as const;
  return parts.flatMap(([many, word]) => (many === 0 ? [] : [`${count(many)} ${word}`])).join(' · ');
}
