import type { AdminServer } from '../../../../../src/admin/contract/contract.ts';
import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { StateDot } from '../../../components/state-dot.tsx';
import { Tabs } from '../../../components/tabs.tsx';
import { formatCount } from '../../../lib/format.ts';
import { useStore } from '../../../store/use-store.ts';
import { EntryEditor } from '../entry/entry-editor.tsx';
import { runServerAction, type ServerAction } from '../run-server-action.ts';
import { About } from './about.tsx';
import { LogTail } from './log-tail.tsx';
import { ProblemPanel } from './problem-panel.tsx';
import { ProcessTree } from './process-tree.tsx';
import { ServerEntries } from './server-entries.tsx';

const tabs = [
  { name: 'about', title: 'About' },
  { name: 'offers', title: 'Tools' },
  { name: 'log', title: 'Log' },
  { name: 'processes', title: 'Processes' },
  { name: 'entry', title: 'Configuration' },
] as const;

/** Shows the state, entries, log, processes and configuration of a server. */
export function ServerDetail({ server }: { server: AdminServer }) {
  const { router } = useStore();
  const { name, description, transport } = server;
  const availableTabs = tabs.filter((tab) => tab.name !== 'processes' || transport?.kind !== 'http');
  const selected = availableTabs.find((tab) => tab.name === router.query.value.get('tab'))?.name ?? 'about';
  return (
    <>
      <div class="page-head">
        <div class="server-title">
          <a class="back" href="/servers">
            <Icon name="right" />
            Servers
          </a>
          <h1>{name}</h1>
          <p class="soft">
            <StateDot state={server.state} />
            {server.inFlight > 0 && <span>{formatCount(server.inFlight)} running</span>}
            {description !== undefined && <span>{description}</span>}
          </p>
        </div>
        <ServerActions server={server} />
      </div>
      <ProblemPanel server={server} />
      <Tabs
        label={`About ${name}`}
        tabs={availableTabs.map((tab) =>
          tab.name === 'offers' && server.tools > 0
            ? { name: tab.name, title: <TitleWithCount title={tab.title} count={server.tools} /> }
            : tab,
        )}
        selected={selected}
        onSelect={(tab) => router.set({ tab: tab === 'about' ? undefined : tab })}
      >
        {selected === 'about' && <About server={server} />}
        {selected === 'offers' && <ServerEntries server={server} />}
        {selected === 'log' && <LogTail name={name} />}
        {selected === 'processes' && <ProcessTree server={server} />}
        {selected === 'entry' && <EntryEditor name={name} />}
      </Tabs>
    </>
  );
}

function TitleWithCount({ title, count }: { title: string; count: number }) {
  return (
    <>
      {title} <span class="faint number">{formatCount(count)}</span>
    </>
  );
}

/** The actions that are always possible. */
function ServerActions({ server: { name, enabled } }: { server: AdminServer }) {
  const store = useStore();
  const isReadOnly = store.config.value.value?.readOnly === true;
  const handler = (action: ServerAction) => async (): Promise<void> => runServerAction(action, name, store);
  return (
    <div class="actions">
      {enabled && (
        <>
          <Button onPress={handler('restart')}>Restart</Button>
          <Button onPress={handler('refresh')}>Refresh</Button>
        </>
      )}
      {!isReadOnly && (
        <>
          {enabled && <Button onPress={handler('disable')}>Disable</Button>}
          {!enabled && (
            <Button kind="main" onPress={handler('enable')}>
              Enable
            </Button>
          )}
          <Button kind="danger" onPress={handler('remove')}>
            Remove
          </Button>
        </>
      )}
    </div>
  );
}
