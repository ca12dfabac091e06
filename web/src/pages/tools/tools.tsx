import { useEffect, useMemo, useState } from 'preact/hooks';

import type { AdminTool } from '../../../../src/admin/contract/contract.ts';
import { toProblem, type Problem } from '../../api/problem.ts';
import { EmptyState } from '../../components/page/empty-state.tsx';
import { PageHead } from '../../components/page/page-head.tsx';
import { ProblemNote } from '../../components/page/problem-note.tsx';
import { ResourceContent } from '../../components/page/resource-content.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { ServerSelect } from '../../components/server-select.tsx';
import { pluralize } from '../../lib/format.ts';
import { useLoad, useStore } from '../../store/use-store.ts';
import { ToolDetail } from './detail/tool-detail.tsx';
import { ToolList } from './tool-list.tsx';
import { toolUrl } from './tool-url.ts';

/** Lists tools and searches them with the ranking that agents get. `?tool=` shows one tool. */
export function Tools() {
  const { tools, status, router } = useStore();
  useLoad(tools, status);
  const name = router.query.value.get('tool');
  if (name !== null) return <ToolDetail key={name} name={name} />;
  return <ResourceContent resource={tools}>{(all) => <ToolSearch all={all} />}</ResourceContent>;
}

function ToolSearch({ all }: { all: readonly AdminTool[] }) {
  const { router } = useStore();
  const query = router.query.value;
  const text = query.get('q') ?? '';
  const server = query.get('server') ?? undefined;
  const tier = parseTier(query);
  const search = useToolSearch(text, server);
  const servers = useMemo(() => [...new Set(all.map((tool) => tool.server))].toSorted(), [all]);
  const rows = useMemo(() => {
    const matches =
      text === '' ? all.filter((tool) => server === undefined || tool.server === server) : search.tools;
    return tier === undefined ? matches : matches.filter((tool) => tool.tier === tier);
  }, [all, text, server, tier, search.tools]);
  if (all.length === 0) return <NoTools />;
  return (
    <>
      <PageHead
        title="Tools"
        aside={`${pluralize(all.length, 'tool')} of ${pluralize(servers.length, 'server')}`}
      />
      <div class="toolbar">
        <SearchField
          label="Search tools"
          placeholder="Describe a task. The ranking is the one that agents get."
          value={text}
          onChange={(next) => router.set({ q: next })}
          hasShortcut
        />
        <ServerSelect
          servers={servers}
          value={server ?? ''}
          onChange={(selected) => router.set({ server: selected })}
        />
        <TierSelect tier={tier} />
      </div>
      {search.problem !== undefined && text !== '' && <ProblemNote problem={search.problem} />}
      <ToolList
        tools={rows}
        isRanked={text !== ''}
        scope={`${text} ${server ?? ''} ${tier ?? ''}`}
        urlOf={(tool) => toolUrl(query, tool.name)}
        onOpen={(tool) => router.go(toolUrl(query, tool.name))}
      />
    </>
  );
}

const tiers = ['read', 'write', 'destructive'] as const;
type Tier = (typeof tiers)[number];

function parseTier(query: URLSearchParams): Tier | undefined {
  return tiers.find((tier) => tier === query.get('tier'));
}

/** Filters by effect. The filter is part of the URL, so that it survives a reload and can be shared. */
function TierSelect({ tier }: { readonly tier: Tier | undefined }) {
  const { router } = useStore();
  return (
    <select
      aria-label="Effect"
      value={tier ?? ''}
      onChange={(event) => router.set({ tier: event.currentTarget.value })}
    >
      <option value="">Any effect</option>
      <option value="read">Read-only</option>
      <option value="write">Writes</option>
      <option value="destructive">Destructive</option>
    </select>
  );
}

interface SearchResult {
  readonly tools: readonly AdminTool[];
  readonly problem: Problem | undefined;
}

const MAX_RESULTS = 100;

/** Searches with every key press. The previous result stays until the response to the latest request arrives. */
function useToolSearch(text: string, server: string | undefined): SearchResult {
  const { api } = useStore();
  const [result, setResult] = useState<SearchResult>({ tools: [], problem: undefined });
  useEffect(() => {
    if (text.trim() === '') return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const input = { q: text, limit: MAX_RESULTS, cached: true, server };
    api.request('GET /api/search', input, { signal }).then(
      (tools) => !signal.aborted && setResult({ tools, problem: undefined }),
      (error: unknown) => !signal.aborted && setResult({ tools: [], problem: toProblem(error) }),
    );
    return () => controller.abort();
  }, [api, text, server]);
  return result;
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
              {pluralize(held, 'entry is', 'entries are')} held for approval. Review them under{' '}
              <a href="/approvals">Approvals</a>.
            </>
          ) : (
            <>
              Tools come from servers. Check under <a href="/servers">Servers</a> that servers are configured
              and work.
            </>
          )}
        </p>
      </EmptyState>
    </>
  );
}
