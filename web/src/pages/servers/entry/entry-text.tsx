import { useMemo } from 'preact/hooks';

import { CodeBlock } from '../../../components/data/code-block.tsx';
import { ExpandButton } from '../../../components/data/expand-button.tsx';
import { CUT_LIMITS, formatDefinition, NO_LIMITS } from '../../../lib/format-definition.ts';

interface EntryTextProps {
  readonly entry: Readonly<Record<string, unknown>>;
  /** Whether a long entry is shown whole. */
  readonly isExpanded: boolean;
  readonly onExpand: () => void;
}

/** Shows an entry as text. An input would show only the start of a long value, and invisible characters could reorder visible ones. */
export function EntryText({ entry, isExpanded, onExpand }: EntryTextProps) {
  const { text, hidden } = useMemo(
    () => formatDefinition(entry, isExpanded ? NO_LIMITS : CUT_LIMITS),
    [entry, isExpanded],
  );
  return (
    <section class="section" aria-label="The whole entry">
      <div class="section-head">
        <h3>The whole entry</h3>
        <ExpandButton hidden={hidden} onExpand={onExpand} />
      </div>
      <CodeBlock text={text} />
    </section>
  );
}
