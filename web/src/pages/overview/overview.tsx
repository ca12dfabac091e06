import type { AdminStatus } from '../../../../src/admin/contract/contract.ts';
import { plural, span } from '../../lib/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Loaded } from '../../parts/page/loaded.tsx';
import { PageHead } from '../../parts/page/page-head.tsx';
import { Section } from '../../parts/page/section.tsx';
import { useLoaded, useStore } from '../../store/use-store.ts';
import { actOn } from './act-on.ts';
import { NeedList } from './need-list.tsx';
import { needsOf } from './needs.ts';
import { ServerTable } from './server-table.tsx';
import { TokenPanel } from './token-panel.tsx';

/** What needs a person first, then how everything is. */
export function Overview() {
  const store = useStore();
  const { status, approvals, config, latency, tokens, router } = store;
  useLoaded(status, approvals, config, latency, tokens);
  const known = status.value.value;
  const open = (name: string): void => router.go(`/servers?server=${encodeURIComponent(name)}`);
  return (
    <>
      <PageHead title="Overview" aside={known && summary(known, store.now.value)} />
      <Loaded from={status}>
        {(value) => (
          <>
            <Needs status={value} />
            <Section title="Servers">
              <ServerTable servers={value.servers} latency={latency.value.value} onOpen={open} />
            </Section>
          </>
        )}
      </Loaded>
      <Section title="Tokens" aside="last seven days, estimated">
        <Loaded from={tokens}>{(value) => <TokenPanel tokens={value} />}</Loaded>
      </Section>
    </>
  );
}

function Needs({ status }: { status: AdminStatus }) {
  const store = useStore();
  const needs = needsOf({ status, approvals: store.approvals.value.value, config: store.config.value.value });
  return (
    <Section title="Needs you" {...(needs.length > 0 && { aside: String(needs.length) })}>
      {needs.length === 0 ? (
        <p class="all-well soft">
          <Icon name="check" />
          Nothing waits for you.
        </p>
      ) : (
        <NeedList needs={needs} onAct={async (need) => actOn(need, store, window)} />
      )}
    </Section>
  );
}

function summary({ servers, tools, clients, since }: AdminStatus, now: number): string {
  const enabled = servers.filter((server) => server.enabled);
  const usable = enabled.filter(({ state }) => state === 'ready' || state === 'idle');
  return [
    `${usable.length} of ${plural(enabled.length, 'server')} usable`,
    plural(tools, 'tool'),
    `${plural(clients, 'client')} connected`,
    `up ${span(now - since)}`,
  ].join(' · ');
}
