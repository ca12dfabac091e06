import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';

import { diffLines, type DiffRow, type Piece } from '../../lib/diff-lines.ts';
import { foldRows } from './fold-rows.ts';

interface DiffProps {
  readonly before: string;
  readonly after: string;
  readonly beforeTitle?: string;
  readonly afterTitle?: string;
}

/** More are shown when somebody wants them. */
const MOST_ROWS = 1000;

/**
 * Two texts beside each other, line against line; what differs inside a line is marked, long stretches that do not differ are
 * folded. On a phone, one below the other.
 */
export function Diff({ before, after, beforeTitle = 'Approved', afterTitle = 'Offered now' }: DiffProps) {
  const rows = useMemo(() => diffLines(before, after), [before, after]);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [most, setMost] = useState(MOST_ROWS);
  const all = foldRows(rows, opened);
  const shown = all.slice(0, most);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what can be scrolled must be reachable by keyboard
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
          {shown.map((part) =>
            'row' in part ? (
              <tr key={part.at} class={part.row.isSame ? 'same' : 'changed'}>
                <Side side={part.row.before} kind={part.row.isSame ? '' : 'gone'} word="removed" />
                <Side side={part.row.after} kind={part.row.isSame ? '' : 'come'} word="added" />
              </tr>
            ) : (
              <More key={part.at} onMore={() => setOpened(new Set([...opened, part.at]))}>
                {part.folded} lines without a difference
              </More>
            ),
          )}
          {all.length > shown.length && (
            <More onMore={() => setMost(most * 4)}>{all.length - shown.length} more lines</More>
          )}
        </tbody>
      </table>
    </div>
  );
}

function More({ children, onMore }: { children: ComponentChildren; onMore: () => void }) {
  return (
    <tr class="fold">
      <td colSpan={4}>
        <button type="button" class="link" onClick={onMore}>
          {children}
        </button>
      </td>
    </tr>
  );
}

function Side({ side, kind, word }: { side: DiffRow['before']; kind: string; word: string }) {
  if (side === undefined) return <td class="none" colSpan={2} aria-label="nothing" />;
  return (
    <>
      <td class="line number" aria-hidden="true">
        {side.line}
      </td>
      <td class={kind}>
        {kind !== '' && <span class="hidden-text">{word}: </span>}
        {side.pieces.map((piece, index) => (
          <Part key={index} piece={piece} />
        ))}
      </td>
    </>
  );
}

function Part({ piece: { text, isChanged } }: { piece: Piece }) {
  return isChanged ? <mark>{text}</mark> : <>{text}</>;
}
