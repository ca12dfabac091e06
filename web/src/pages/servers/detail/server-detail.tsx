import type { AdminServer } from '../../../../../src/admin/contract/contract.ts';
import { count } from '../../../lib/format.ts';
import { Icon } from '../../../parts/icon.tsx';
import { StateDot } from '../../../parts/state-dot.tsx';
import { Tabs } from '../../../parts/tabs.tsx';
import { useStore } from '../../../store/use-store.ts';
import { EntryEditor } from '../entry/entry-editor.tsx';
import { About } from './about.tsx';
import { LogTail } from './log-tail.tsx';
import { Offers } from './offers.tsx';
import { ProblemPanel } from './problem-panel.tsx';
import { ProcessTree } from './process-tree.tsx';
import { ServerActions } from './server-actions.tsx';

const tabs = [
  { name: 'about', title: 'About' },
  { name: 'offers', title: 'Offers' },
  { name: 'log', title: 'Log' },
  { name: 'processes', title: 'Processes' },
  { name: 'entry', title: 'Entry' },
] as const;

/** One server: how it is, what it offers, what it says, what it runs and what is written of it. */
export function ServerDetail({ server }: { server: AdminServer }) {
  const { router } = useStore();
  const { name, description, transport } = server;
  const shown = tabs.filter((tab) => tab.name !== 'processes' || transport?.kind !== 'http');
  const chosen = shown.find((tab) => tab.name === router.query.value.get('tab'))?.name ?? 'about';
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
            {server.inFlight > 0 && <span>{count(server.inFlight)} running</span>}
            {description !== undefined && <span>{description}</span>}
          </p>
        </div>
        <ServerActions server={server} />
      </div>
      <ProblemPanel server={server} />
      <Tabs
        label={`About ${name}`}
        tabs={shown.map((tab) =>
          tab.name === 'offers' && server.tools > 0
            ? { name: tab.name, title: <Counted title={tab.title} number={server.tools} /> }
            : tab,
        )}
        chosen={chosen}
        onChoose={(tab) => router.set({ tab: tab === 'about' ? undefined : tab })}
      >
        {chosen === 'about' && <About server={server} />}
        {chosen === 'offers' && <Offers server={server} />}
        {chosen === 'log' && <LogTail name={name} />}
        {chosen === 'processes' && <ProcessTree server={server} />}
        {chosen === 'entry' && <EntryEditor name={name} />}
      </Tabs>
    </>
  );
}

function Counted({ title, number }: { title: string; number: number }) {
  return (
    <>
      {title} <span class="faint number">{count(number)}</span>
    </>
  );
}
