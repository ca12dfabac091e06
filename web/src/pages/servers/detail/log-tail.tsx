import { useRef, useState } from 'preact/hooks';

import { toProblem, type Problem } from '../../../api/problem.ts';
import { EmptyState } from '../../../components/page/empty-state.tsx';
import { LoadingNote } from '../../../components/page/loading-note.tsx';
import { ProblemNote } from '../../../components/page/problem-note.tsx';
import { usePolling } from '../../../lib/use-polling.ts';
import { useStore } from '../../../store/use-store.ts';
import { LogLines, type NumberedLine } from './log-lines.tsx';

const POLL_INTERVAL_MS = 1000;
/** The maximum number of lines on the page. Earlier lines are only in the log file. */
const MAX_LINES = 1000;

interface Tail {
  readonly file: string;
  readonly lines: readonly NumberedLine[];
  /** The position from which the next request reads. */
  readonly next: number;
  readonly hasMore: boolean;
}

/** Shows the lines that a server writes to standard error, and protocol errors, as they are written. */
export function LogTail({ name }: { name: string }) {
  const { tail, problem } = useLogTail(name);
  return (
    <div class="log-tail">
      {problem !== undefined && <ProblemNote problem={problem} />}
      {tail === undefined ? (
        problem === undefined && <LoadingNote />
      ) : tail.lines.length === 0 ? (
        <EmptyState title="The log is empty">
          <p>Lines that the process writes to standard error appear here immediately.</p>
        </EmptyState>
      ) : (
        <LogLines name={name} lines={tail.lines} />
      )}
      {tail !== undefined && (
        <p class="small faint">
          {tail.hasMore && 'Earlier lines are in the file: '}
          <code>{tail.file}</code>
        </p>
      )}
    </div>
  );
}

function useLogTail(name: string) {
  const { api } = useStore();
  const latest = useRef<Tail>(undefined);
  const [tail, setTail] = useState<Tail>();
  const [problem, setProblem] = useState<Problem>();
  const readNewLines = async (): Promise<void> => {
    const { lines = [], next, hasMore = false } = latest.current ?? {};
    const from = next === undefined ? {} : { from: next };
    try {
      const response = await api.request('GET /api/servers/:name/log', { name, lines: MAX_LINES, ...from });
      const lastId = lines.at(-1)?.id ?? 0;
      const added = response.lines.map((line, index) => ({ ...line, id: lastId + index + 1 }));
      latest.current = {
        file: response.file,
        next: response.next,
        lines: [...lines, ...added].slice(-MAX_LINES),
        hasMore: hasMore || response.hasMore,
      };
      if (added.length > 0 || next === undefined) setTail(latest.current);
      setProblem(undefined);
    } catch (error) {
      setProblem(toProblem(error));
    }
  };
  usePolling(readNewLines, POLL_INTERVAL_MS, name);
  return { tail, problem };
}
