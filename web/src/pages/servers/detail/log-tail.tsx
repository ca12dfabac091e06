import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import type { AdminLogLine } from '../../../../../src/admin/contract/contract.ts';
import { asProblem, type Problem } from '../../../api/problem.ts';
import { time } from '../../../lib/format.ts';
import { usePolling } from '../../../lib/use-polling.ts';
import { visible } from '../../../lib/visible.ts';
import { EmptyState } from '../../../parts/page/empty-state.tsx';
import { ProblemNote } from '../../../parts/page/problem-note.tsx';
import { Waiting } from '../../../parts/page/waiting.tsx';
import { useStore } from '../../../store/use-store.ts';

const EVERY_MS = 1000;
/** Older ones are in the file. */
const MOST_LINES = 1000;
/** So near to its end one reads along. */
const NEAR_PX = 40;

interface Tail {
  readonly file: string;
  readonly lines: readonly (AdminLogLine & { readonly id: number })[];
  readonly next: number;
  readonly hasMore: boolean;
}

const nothing: Tail = { file: '', lines: [], next: -1, hasMore: false };

/** What a server's process says on standard error, and trouble with the protocol, as it comes. */
export function LogTail({ name }: { name: string }) {
  const { api } = useStore();
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const tail = useRef(nothing);
  const [shown, setShown] = useState(nothing);
  const [problem, setProblem] = useState<Problem>();
  const read = async (): Promise<void> => {
    const { next } = tail.current;
    const from = next < 0 ? {} : { from: next };
    try {
      const answer = await api.ask('GET /api/servers/:name/log', { name, lines: MOST_LINES, ...from });
      const last = tail.current.lines.at(-1)?.id ?? 0;
      const come = answer.lines.map((line, index) => ({ ...line, id: last + index + 1 }));
      const lines = [...tail.current.lines, ...come].slice(-MOST_LINES);
      const hasMore = tail.current.hasMore || answer.hasMore;
      tail.current = { file: answer.file, next: answer.next, lines, hasMore };
      if (come.length > 0 || next < 0) setShown(tail.current);
      setProblem(undefined);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  usePolling(read, EVERY_MS, name);
  useLayoutEffect(() => {
    if (follows.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [shown]);
  return (
    <div class="log-tail">
      {problem !== undefined && <ProblemNote problem={problem} />}
      {shown.lines.length > 0 ? (
        <div
          class="log"
          role="log"
          aria-label={`Log of ${name}`}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what can be scrolled must be reachable by keyboard
          tabIndex={0}
          ref={box}
          onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
            follows.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
          }}
        >
          {shown.lines.map(({ id, at, from, text }) => (
            <p key={id} class={from}>
              <span class="faint">{time(at)}</span> {from === 'gateway' && <b>gateway </b>}
              {visible(text)}
            </p>
          ))}
        </div>
      ) : shown.next >= 0 ? (
        <EmptyState title="Its log is empty">
          <p>What its process writes to standard error appears here at once.</p>
        </EmptyState>
      ) : (
        problem === undefined && <Waiting />
      )}
      {shown.file !== '' && (
        <p class="small faint">
          {shown.hasMore && 'Older lines are in the file: '}
          <code>{shown.file}</code>
        </p>
      )}
    </div>
  );
}
