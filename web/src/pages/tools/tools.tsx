import { useMemo } from 'preact/hooks';

import type { AdminTool } from '../../../../src/admin/contract/contract.ts';
import { plural } from '../../lib/format.ts';
import { EmptyState } from '../../parts/page/empty-state.tsx';
import { Loaded } from '../../parts/page/loaded.tsx';
import { PageHead } from '../../parts/page/page-head.tsx';
import { ProblemNote } from '../../parts/page/problem-note.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { useLoaded, useStore } from '../../store/use-store.ts';
import { ToolDetail } from './detail/tool-detail.tsx';
import { toolAddress } from './tool-address.ts';
import { ToolFilters, tierIn } from './tool-filters.tsx';
import { ToolList } from './tool-list.tsx';
import { useToolSearch } from './use-tool-search.ts';

/** What agents find, in the order in which they find it; `?tool=` shows one of them. */
export function Tools() {
  const { tools, status, router } = useStore();
  useLoaded(tools, status);
  const name = router.query.value.get('tool');
  if (name !== null) return <ToolDetail key={name} name={name} />;
  return <Loaded from={tools}>{(all) => <Found all={all} />}</Loaded>;
}

function Found({ all }: { all: readonly AdminTool[] }) {
  const { router } = useStore();
  const query = router.query.value;
  const words = query.get('q') ?? '';
  const server = query.get('server') ?? undefined;
  const tier = tierIn(query);
  const found = useToolSearch(words, server);
  const servers = useMemo(() => [...new Set(all.map((tool) => tool.server))].toSorted(), [all]);
  const rows = useMemo(() => {
    const listed =
      words === '' ? all.filter((tool) => server === undefined || tool.server === server) : found.tools;
    return tier === undefined ? listed : listed.filter((tool) => tool.tier === tier);
  }, [all, words, server, tier, found.tools]);
  if (all.length === 0) return <NoTools />;
  return (
    <>
      <PageHead
        title="Tools"
        aside={`${plural(all.length, 'tool')} of ${plural(servers.length, 'server')}`}
      />
      <div class="toolbar">
        <SearchField
          label="Search tools"
          placeholder="What should it do? The ranking is the one that agents get."
          value={words}
          onChange={(next) => router.set({ q: next })}
          hasShortcut
        />
        <ToolFilters servers={servers} server={server} tier={tier} />
      </div>
      {found.problem !== undefined && words !== '' && <ProblemNote problem={found.problem} />}
      <ToolList
        tools={rows}
        isRanked={words !== ''}
        scope={`${words} ${server ?? ''} ${tier ?? ''}`}
        addressOf={(tool) => toolAddress(query, tool.name)}
        onOpen={(tool) => router.go(toolAddress(query, tool.name))}
      />
    </>
  );
}

function NoTools() {
  const { status } = useStore();
  const held = status.value.value?.held.entries ?? 0;
  return (
    <>
      <PageHead title="Tools" />
      <EmptyState title="No tools yet">
        <p>
          {held > 0 ? (
            <>
              {plural(held, 'tool')} wait for you under <a href="/approvals">Approvals</a>.
            </>
          ) : (
            <>
              Tools come from servers: look under <a href="/servers">Servers</a> whether there are some and
              whether they work.
            </>
          )}
        </p>
      </EmptyState>
    </>
  );
}
