import { useState } from 'preact/hooks';

import type { ToolCallResult } from '../../../api/call-tool.ts';
import { Badge } from '../../../components/badge.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { JsonTree } from '../../../components/data/json-tree.tsx';
import { Tabs } from '../../../components/tabs.tsx';
import { formatBytes, formatDuration } from '../../../lib/format.ts';
import { ContentBlock } from './content-block.tsx';
import { LongText } from './long-text.tsx';

const tabs = [
  { name: 'content', title: 'Result' },
  { name: 'structured', title: 'Structured' },
  { name: 'raw', title: 'Raw' },
] as const;

/** Shows the result of a call: its blocks, its structured content, or its raw text. */
export function ResultView({ call }: { readonly call: ToolCallResult }) {
  const [tab, setTab] = useState<(typeof tabs)[number]['name']>('content');
  const { content, structuredContent, isError } = call.result;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const availableTabs = tabs.filter(({ name }) => name !== 'structured' || structuredContent !== undefined);
  return (
    <section class="result frame" aria-label="Result of the call">
      <div class="small faint number result-head">
        {isError === true ? <Badge kind="bad">Tool error</Badge> : <Badge kind="good">Done</Badge>}
        <span>{formatDuration(call.ms)}</span>
        <span>{formatBytes(call.text.length)}</span>
        <CopyButton text={call.text} label="Copy the raw result" />
      </div>
      <Tabs label="Views of the result" tabs={availableTabs} selected={tab} onSelect={setTab}>
        {tab === 'content' && <Blocks blocks={blocks} />}
        {tab === 'structured' && <JsonTree value={structuredContent} openLevels={3} />}
        {tab === 'raw' && <LongText text={call.text} />}
      </Tabs>
    </section>
  );
}

function Blocks({ blocks }: { blocks: readonly unknown[] }) {
  if (blocks.length === 0) return <p class="soft">The result has no content.</p>;
  return (
    <>
      {blocks.map((block, index) => (
        // Blocks have no ids, and their order never changes.
        <ContentBlock key={index} block={block} />
      ))}
    </>
  );
}
