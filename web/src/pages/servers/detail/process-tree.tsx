import { useState } from 'preact/hooks';

import type {
  AdminProcess,
  AdminProcesses,
  AdminServer,
} from '../../../../../src/admin/contract/contract.ts';
import { toProblem, type Problem } from '../../../api/problem.ts';
import { formatBytes, formatDuration, pluralize } from '../../../lib/format.ts';
import { usePolling } from '../../../lib/use-polling.ts';
import { EmptyState } from '../../../components/page/empty-state.tsx';
import { ProblemNote } from '../../../components/page/problem-note.tsx';
import { LoadingNote } from '../../../components/page/loading-note.tsx';
import { useStore } from '../../../store/use-store.ts';

const POLL_INTERVAL_MS = 2500;

/** Shows the processes of a server with their memory and CPU time. */
export function ProcessTree({ server: { name, pid } }: { server: AdminServer }) {
  const { api } = useStore();
  const [tree, setTree] = useState<AdminProcesses>();
  const [problem, setProblem] = useState<Problem>();
  const load = async (): Promise<void> => {
    try {
      setTree(await api.request('GET /api/servers/:name/processes', { name }));
      setProblem(undefined);
    } catch (error) {
      setProblem(toProblem(error));
    }
  };
  usePolling(load, POLL_INTERVAL_MS, `${name} ${pid ?? ''}`);
  if (problem !== undefined) return <ProblemNote problem={problem} />;
  if (tree === undefined) return <LoadingNote />;
  const rows = tree.processes.flatMap((process) => flattenTree(process, 0));
  if (rows.length === 0) {
    return (
      <EmptyState title="No process is running">
        <p>A process starts with the next call, or with Restart.</p>
      </EmptyState>
    );
  }
  return (
    <div class="frame">
      <table class="plain-table processes">
        <caption class="small soft">
          {pluralize(rows.length, 'process', 'processes')}, {formatBytes(tree.memoryBytes)} in total
        </caption>
        <thead>
          <tr>
            <th scope="col">Program</th>
            <th scope="col">Process ID</th>
            <th scope="col">Memory</th>
            <th scope="col">CPU time</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ process, depth }) => (
            <tr key={process.pid}>
              <td style={{ paddingLeft: `${depth * 18}px` }}>
                {depth > 0 && (
                  <span class="faint" aria-hidden="true">
                    └{' '}
                  </span>
                )}
                <code>{process.command}</code>
              </td>
              <td>{process.pid}</td>
              <td>{formatBytes(process.memoryBytes)}</td>
              <td>{formatDuration(process.cpuSeconds * 1000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ProcessRow {
  readonly process: AdminProcess;
  readonly depth: number;
}

function flattenTree(process: AdminProcess, depth: number): readonly ProcessRow[] {
  return [{ process, depth }, ...process.children.flatMap((child) => flattenTree(child, depth + 1))];
}
