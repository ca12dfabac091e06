import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { diffLines, type DiffRow, type LinePart } from '../../lib/diff-lines.ts';
import { foldRows } from './fold-rows.ts';

interface DiffProps {
  readonly before: string;
  readonly after: string;
  readonly beforeTitle?: string;
  readonly afterTitle?: string;
  /** Whether only the first rows are shown until the user wants to see more. */
  readonly hasLimit?: boolean;
}

/** The number of rows that are shown at first. */
const MAX_ROWS = 1000;

/**
 * Shows two texts side by side, or one below the other on a phone. Changed words are marked, and long unchanged sections are
 * folded.
 */
export function Diff({
  before,
  after,
  beforeTitle = 'Approved',
  afterTitle = 'Offered now',
  hasLimit = true,
}: DiffProps) {
  const rows = useMemo(() => diffLines(before, after), [before, after]);
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  const [limit, setLimit] = useState(MAX_ROWS);
  const sections = foldRows(rows, unfolded);
  const shown = hasLimit ? sections.slice(0, limit) : sections;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable content must be reachable by keyboard
    <div class="diff" tabIndex={0} role="region" aria-label={`${beforeTitle} and ${afterTitle}`}>
      <table>
        <colgroup>
          <col />
          <col />
          <col />
          <col />
        </colgroup>
        <thead>
          <tr>
            <th colSpan={2} scope="col">
              {beforeTitle}
            </th>
            <th colSpan={2} scope="col">
              {afterTitle}
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((section) =>
            'row' in section ? (
              <tr key={section.index} class={section.row.isSame ? 'same' : 'changed'}>
                <Side side={section.row.before} change={section.row.isSame ? undefined : 'removed'} />
                <Side side={section.row.after} change={section.row.isSame ? undefined : 'added'} />
              </tr>
            ) : (
              <MoreRow key={section.index} onPress={() => setUnfolded(new Set([...unfolded, section.index]))}>
                {section.folded} unchanged lines
              </MoreRow>
            ),
          )}
          {sections.length > shown.length && (
            <MoreRow onPress={() => setLimit(limit * 4)}>{sections.length - shown.length} more lines</MoreRow>
          )}
        </tbody>
      </table>
    </div>
  );
}

function MoreRow({ children, onPress }: { children: ComponentChildren; onPress: () => void }) {
  return (
    <tr class="fold">
      <td colSpan={4}>
        <button type="button" class="link" onClick={onPress}>
          {children}
        </button>
      </td>
    </tr>
  );
}

function Side({ side, change }: { side: DiffRow['before']; change: 'removed' | 'added' | undefined }) {
  if (side === undefined) return <td class="none" colSpan={2} aria-label="no line" />;
  return (
    <>
      <td class="line number" aria-hidden="true">
        {side.line}
      </td>
      <td class={change}>
        {change !== undefined && <span class="hidden-text">{change}: </span>}
        {side.parts.map((part, index) => (
          <Part key={index} part={part} />
        ))}
      </td>
    </>
  );
}

function Part({ part: { text, isChanged } }: { part: LinePart }) {
  return isChanged ? <mark>{text}</mark> : <>{text}</>;
}
