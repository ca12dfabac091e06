import { useCallback, useEffect, useState } from 'preact/hooks';

import type { AdminToolDetail } from '../../../../../src/admin/contract/contract.ts';
import { toProblem, type Problem } from '../../../api/problem.ts';
import { JsonTree } from '../../../components/data/json-tree.tsx';
import { Icon } from '../../../components/icon.tsx';
import { LoadingNote } from '../../../components/page/loading-note.tsx';
import { ProblemNote } from '../../../components/page/problem-note.tsx';
import { Tabs } from '../../../components/tabs.tsx';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { asObject } from '../../../lib/schema-field.ts';
import { useStore } from '../../../store/use-store.ts';
import { TierBadge } from '../tier-badge.tsx';
import { toolListUrl } from '../tool-url.ts';
import { SchemaView } from './schema-view.tsx';
import { TryTool } from './try-tool.tsx';

const tabs = [
  { name: 'try', title: 'Try it' },
  { name: 'takes', title: 'Input' },
  { name: 'gives', title: 'Output' },
  { name: 'definition', title: 'Definition' },
] as const;

/** Shows a tool with its input, output and definition, and a form to call it. */
export function ToolDetail({ name }: { readonly name: string }) {
  const { router } = useStore();
  const { tool, problem, load } = useTool(name);
  return (
    <>
      <div class="page-head">
        <div class="tool-title">
          <a class="back" href={toolListUrl(router.query.value)}>
            <Icon name="right" />
            Tools
          </a>
          <h1 class="mono">{escapeInvisible(name)}</h1>
          {tool !== undefined && <Subtitle tool={tool} />}
        </div>
      </div>
      {problem !== undefined && <ProblemNote problem={problem} onRetry={load} />}
      {tool === undefined && problem === undefined && <LoadingNote />}
      {tool !== undefined && (
        <ToolTabs tool={tool} tab={router.query.value.get('tab')} onSelect={(tab) => router.set({ tab })} />
      )}
    </>
  );
}

/** Loads a tool, and loads it again when the catalog changes, so that the form calls the current version. */
function useTool(name: string) {
  const { api, subscribe } = useStore();
  const [tool, setTool] = useState<AdminToolDetail>();
  const [problem, setProblem] = useState<Problem>();
  const load = useCallback(async (): Promise<void> => {
    try {
      setTool(await api.request('GET /api/describe', { name }));
      setProblem(undefined);
    } catch (error) {
      setProblem(toProblem(error));
    }
  }, [api, name]);
  useEffect(() => {
    void load();
    return subscribe(({ event }) => {
      if (event === 'catalog' || event === 'reset') void load();
    });
  }, [subscribe, load]);
  return { tool, problem, load };
}

function Subtitle({ tool }: { tool: AdminToolDetail }) {
  return (
    <>
      <p class="small soft tool-about">
        <TierBadge tier={tool.tier} />
        {tool.title !== undefined && <span class="truncated">{escapeInvisible(tool.title)}</span>}
        <span>
          from{' '}
          <a href={`/servers?server=${encodeURIComponent(tool.server)}`}>{escapeInvisible(tool.server)}</a>,
          original name <code>{escapeInvisible(tool.original)}</code>
        </span>
        <a href={`/activity?${new URLSearchParams({ tool: tool.original, server: tool.server }).toString()}`}>
          Show calls
        </a>
      </p>
      {tool.description !== undefined && <ToolDescription text={tool.description} />}
    </>
  );
}

/** The length of a truncated description, in characters. */
const MAX_DESCRIPTION_CHARS = 600;

/** Shows the description of a tool. A long one is truncated, so that the form stays visible. */
function ToolDescription({ text }: { readonly text: string }) {
  const [isExpanded, setExpanded] = useState(false);
  // A description that is only a little longer is shown in full.
  const isLong = text.length > MAX_DESCRIPTION_CHARS * 1.5;
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable content must be reachable by keyboard */}
      <p class="tool-description" tabIndex={isExpanded ? 0 : undefined}>
        {escapeInvisible(isLong && !isExpanded ? `${text.slice(0, MAX_DESCRIPTION_CHARS)}…` : text)}
      </p>
      {isLong && (
        <button
          type="button"
          class="link small"
          aria-expanded={isExpanded}
          onClick={() => setExpanded(!isExpanded)}
        >
          {isExpanded ? 'Show less' : 'Show all'}
        </button>
      )}
    </>
  );
}

interface ToolTabsProps {
  readonly tool: AdminToolDetail;
  readonly tab: string | null;
  readonly onSelect: (tab: string | undefined) => void;
}

function ToolTabs({ tool, tab, onSelect }: ToolTabsProps) {
  const inputSchema = asObject(tool.definition['inputSchema']) ?? {};
  const outputSchema = asObject(tool.definition['outputSchema']);
  const availableTabs = tabs.filter(({ name }) => name !== 'gives' || outputSchema !== undefined);
  const selected = availableTabs.find(({ name }) => name === tab)?.name ?? 'try';
  return (
    <Tabs
      label={`About ${tool.name}`}
      tabs={availableTabs}
      selected={selected}
      onSelect={(name) => onSelect(name === 'try' ? undefined : name)}
    >
      {selected === 'try' && <TryTool tool={tool} schema={inputSchema} />}
      {selected === 'takes' && <SchemaView schema={inputSchema} emptyText="The tool takes no arguments." />}
      {selected === 'gives' && outputSchema !== undefined && (
        <SchemaView schema={outputSchema} emptyText="The output schema lists no members." />
      )}
      {selected === 'definition' && <JsonTree value={tool.definition} openLevels={5} />}
    </Tabs>
  );
}
