import type { AdminStatus } from '../../../../src/admin/contract/contract.ts';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { PageHead } from '../../components/page/page-head.tsx';
import { ResourceContent } from '../../components/page/resource-content.tsx';
import { Section } from '../../components/page/section.tsx';
import { formatSpan, pluralize } from '../../lib/format.ts';
import { openSignIn } from '../../store/open-sign-in.ts';
import { resumeCalls } from '../../store/resume-calls.ts';
import type { Store } from '../../store/store.ts';
import { useLoad, useStore } from '../../store/use-store.ts';
import { listActionItems, type ActionItem } from './action-items.ts';
import { ServerTable } from './server-table.tsx';
import { TokenPanel } from './token-panel.tsx';

/** Shows what needs attention, then the state of all servers and the token usage. */
export function Overview() {
  const store = useStore();
  const { status, approvals, config, latency, tokens, router } = store;
  useLoad(status, approvals, config, latency, tokens);
  const known = status.value.value;
  const open = (name: string): void => router.go(`/servers?server=${encodeURIComponent(name)}`);
  return (
    <>
      <PageHead title="Overview" aside={known && summarize(known, store.now.value)} />
      <ResourceContent resource={status}>
        {(value) => (
          <>
            <Attention status={value} />
            <Section title="Servers">
              <ServerTable servers={value.servers} latency={latency.value.value} onOpen={open} />
            </Section>
          </>
        )}
      </ResourceContent>
      <Section title="Tokens" aside="last seven days, estimated">
        <ResourceContent resource={tokens}>{(value) => <TokenPanel tokens={value} />}</ResourceContent>
      </Section>
    </>
  );
}

function summarize({ servers, tools, clients, since }: AdminStatus, now: number): string {
  const enabled = servers.filter((server) => server.enabled);
  const usable = enabled.filter(({ state }) => state === 'ready' || state === 'idle');
  return [
    `${usable.length} of ${pluralize(enabled.length, 'server')} usable`,
    pluralize(tools, 'tool'),
    `${pluralize(clients, 'client')} connected`,
    `up ${formatSpan(now - since)}`,
  ].join(' · ');
}

function Attention({ status }: { status: AdminStatus }) {
  const { approvals, config } = useStore();
  const items = listActionItems({ status, approvals: approvals.value.value, config: config.value.value });
  return (
    <Section title="Needs attention" aside={items.length > 0 ? String(items.length) : undefined}>
      {items.length === 0 ? (
        <p class="all-good soft">
          <Icon name="check" />
          Nothing needs your attention.
        </p>
      ) : (
        <ul class="action-items frame">
          {items.map((item) => (
            <ActionItemRow key={item.id} item={item} />
          ))}
        </ul>
      )}
    </Section>
  );
}

const actionLabels: Readonly<Record<ActionItem['action']['kind'], string>> = {
  'sign-in': 'Sign in',
  restart: 'Restart',
  try: 'Try now',
  review: 'Review',
  resume: 'Resume',
  copy: 'Copy',
};

function ActionItemRow({ item }: { item: ActionItem }) {
  const store = useStore();
  const { kind } = item.action;
  const label = actionLabels[kind];
  return (
    <li class={item.kind}>
      <Icon name={kind === 'sign-in' ? 'access' : kind === 'review' ? 'approvals' : 'warn'} />
      <div>
        <h3>{item.title}</h3>
        <p class="soft small">{item.text}</p>
      </div>
      <Button isSmall label={`${label}: ${item.title}`} onPress={async () => runAction(item, store)}>
        {label}
      </Button>
    </li>
  );
}

async function runAction({ action }: ActionItem, store: Store): Promise<void> {
  const { api, router, notices, status } = store;
  switch (action.kind) {
    case 'review':
      router.go(action.href);
      return;
    case 'copy':
      await window.navigator.clipboard.writeText(action.text);
      notices.showMessage('Copied.');
      return;
    case 'restart':
    case 'try':
      await api.request('POST /api/servers/:name/restart', { name: action.server });
      notices.showMessage(`${action.server} was restarted.`);
      status.refresh();
      return;
    case 'resume':
      await resumeCalls(store);
      return;
    case 'sign-in':
      await openSignIn(action.server, store, window);
  }
}
