import { useCallback, useEffect, useState } from 'preact/hooks';

import type { AdminToolDetail } from '../../../../../src/admin/contract/contract.ts';
import { asProblem, type Problem } from '../../../api/problem.ts';
import { schemaIn } from '../../../lib/schema-field.ts';
import { visible } from '../../../lib/visible.ts';
import { JsonTree } from '../../../parts/data/json-tree.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { ProblemNote } from '../../../parts/page/problem-note.tsx';
import { Waiting } from '../../../parts/page/waiting.tsx';
import { Tabs } from '../../../parts/tabs.tsx';
import { useStore } from '../../../store/use-store.ts';
import { listAddress } from '../tool-address.ts';
import { TierBadge } from '../tier-badge.tsx';
import { SchemaView } from './schema-view.tsx';
import { ToolSays } from './tool-says.tsx';
import { TryTool } from './try-tool.tsx';

const tabs = [
  { name: 'try', title: 'Try it' },
  { name: 'takes', title: 'Takes' },
  { name: 'gives', title: 'Gives' },
  { name: 'definition', title: 'Definition' },
] as const;

/** One tool: what it is for, what it takes and gives, and a form to try it. */
export function ToolDetail({ name }: { readonly name: string }) {
  const { api, hear, router } = useStore();
  const [tool, setTool] = useState<AdminToolDetail>();
  const [problem, setProblem] = useState<Problem>();
  const load = useCallback(async (): Promise<void> => {
    try {
      setTool(await api.ask('GET /api/describe', { name }));
      setProblem(undefined);
    } catch (error) {
      setProblem(asProblem(error));
    }
  }, [api, name]);
  useEffect(() => {
    void load();
    // What is tried is what is offered now.
    return hear(({ event }) => {
      if (event === 'catalog' || event === 'reset') void load();
    });
  }, [hear, load]);
  return (
    <>
      <div class="page-head">
        <div class="tool-title">
          <a class="back" href={listAddress(router.query.value)}>
            <Icon name="right" />
            Tools
          </a>
          <h1 class="mono">{visible(name)}</h1>
          {tool !== undefined && <Subtitle tool={tool} />}
        </div>
      </div>
      {problem !== undefined && <ProblemNote problem={problem} onRetry={load} />}
      {tool === undefined && problem === undefined && <Waiting />}
      {tool !== undefined && (
        <Parts tool={tool} chosen={router.query.value.get('tab')} onChoose={(tab) => router.set({ tab })} />
      )}
    </>
  );
}

function Subtitle({ tool }: { tool: AdminToolDetail }) {
  return (
    <>
      <p class="small soft tool-about">
        <TierBadge tier={tool.tier} />
        {tool.title !== undefined && <span class="cut">{visible(tool.title)}</span>}
        <span>
          of <a href={`/servers?server=${encodeURIComponent(tool.server)}`}>{visible(tool.server)}</a>, where
          it is called <code>{visible(tool.original)}</code>
        </span>
        <a href={`/activity?${new URLSearchParams({ tool: tool.original, server: tool.server }).toString()}`}>
          Its calls
        </a>
      </p>
      {tool.description !== undefined && <ToolSays text={tool.description} />}
    </>
  );
}

interface PartsProps {
  readonly tool: AdminToolDetail;
  readonly chosen: string | null;
  readonly onChoose: (tab: string | undefined) => void;
}

function Parts({ tool, chosen, onChoose }: PartsProps) {
  const { inputSchema, outputSchema } = tool.definition;
  const [takes, gives] = [schemaIn(inputSchema) ?? {}, schemaIn(outputSchema)];
  const shown = tabs.filter(({ name }) => name !== 'gives' || gives !== undefined);
  const at = shown.find(({ name }) => name === chosen)?.name ?? 'try';
  return (
    <Tabs
      label={`About ${tool.name}`}
      tabs={shown}
      chosen={at}
      onChoose={(tab) => onChoose(tab === 'try' ? undefined : tab)}
    >
      {at === 'try' && <TryTool tool={tool} schema={takes} />}
      {at === 'takes' && <SchemaView schema={takes} empty="It takes no arguments." />}
      {at === 'gives' && gives !== undefined && (
        <SchemaView schema={gives} empty="It says nothing of what it gives." />
      )}
      {at === 'definition' && <JsonTree value={tool.definition} open={5} />}
    </Tabs>
  );
}
