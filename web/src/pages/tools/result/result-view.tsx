import { useState } from 'preact/hooks';

import type { Called } from '../../../api/call-tool.ts';
import { bytes, duration } from '../../../lib/format.ts';
import { Badge } from '../../../parts/badge.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { JsonTree } from '../../../parts/data/json-tree.tsx';
import { Tabs } from '../../../parts/tabs.tsx';
import { ContentBlock } from './content-block.tsx';
import { LongText } from './long-text.tsx';

const tabs = [
  { name: 'shown', title: 'Result' },
  { name: 'structured', title: 'Structured' },
  { name: 'raw', title: 'As it came' },
] as const;

/** What a call gave: its blocks one after the other, or the very text of the answer. */
export function ResultView({ called }: { readonly called: Called }) {
  const [tab, setTab] = useState<(typeof tabs)[number]['name']>('shown');
  const { content, structuredContent, isError } = called.result;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const shown = tabs.filter(({ name }) => name !== 'structured' || structuredContent !== undefined);
  return (
    <section class="result frame" aria-label="What the call gave">
      <div class="small faint number result-head">
        {isError === true ? <Badge kind="bad">The tool failed</Badge> : <Badge kind="good">Done</Badge>}
        <span>{duration(called.ms)}</span>
        <span>{bytes(called.text.length)}</span>
        <CopyButton text={called.text} label="Copy the answer as it came" />
      </div>
      <Tabs label="Ways to look at the result" tabs={shown} chosen={tab} onChoose={setTab}>
        {tab === 'shown' && <Blocks blocks={blocks} />}
        {tab === 'structured' && <JsonTree value={structuredContent} open={3} />}
        {tab === 'raw' && <LongText text={called.text} />}
      </Tabs>
    </section>
  );
}

function Blocks({ blocks }: { blocks: readonly unknown[] }) {
  if (blocks.length === 0) return <p class="soft">It gave no content.</p>;
  return (
    <>
      {blocks.map((block, index) => (
        // Blocks have no names, and never change places.
        <ContentBlock key={index} block={block} />
      ))}
    </>
  );
}
