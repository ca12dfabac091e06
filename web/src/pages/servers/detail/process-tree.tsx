import { useState } from 'preact/hooks';

import type {
  AdminProcess,
  AdminProcesses,
  AdminServer,
} from '../../../../../src/admin/contract/contract.ts';
import { asProblem, type Problem } from '../../../api/problem.ts';
import { bytes, duration, plural } from '../../../lib/format.ts';
import { usePolling } from '../../../lib/use-polling.ts';
import { EmptyState } from '../../../parts/page/empty-state.tsx';
import { ProblemNote } from '../../../parts/page/problem-note.tsx';
import { Waiting } from '../../../parts/page/waiting.tsx';
import { useStore } from '../../../store/use-store.ts';

const EVERY_MS = 2500;

/** What runs for a server now, with what each takes; looked at again every few seconds. */
export function ProcessTree({ server: { name, pid } }: { server: AdminServer }) {
  const { api } = useStore();
  const [known, setKnown] = useState<AdminProcesses>();
  const [problem, setProblem] = useState<Problem>();
  const look = async (): Promise<void> => {
    try {
      setKnown(await api.ask('GET /api/servers/:name/processes', { name }));
      setProblem(undefined);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  usePolling(look, EVERY_MS, `${name} ${pid ?? ''}`);
  if (problem !== undefined) return <ProblemNote problem={problem} />;
  if (known === undefined) return <Waiting />;
  const rows = known.processes.flatMap((each) => rowsOf(each, 0));
  if (rows.length === 0) {
    return (
      <EmptyState title="No process runs for it now">
        <p>One is started with the next call, or with Restart.</p>
      </EmptyState>
    );
  }
  return (
    <div class="frame">
      <table class="plain-table processes">
        <caption class="small soft">
          {plural(rows.length, 'process', 'processes')}, {bytes(known.memoryBytes)} together
        </caption>
        <thead>
          <tr>
            <th scope="col">Program</th>
            <th scope="col">Process</th>
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
              <td>{bytes(process.memoryBytes)}</td>
              <td>{duration(process.cpuSeconds * 1000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Row {
  readonly process: AdminProcess;
  readonly depth: number;
}

function rowsOf(process: AdminProcess, depth: number): readonly Row[] {
  return [{ process, depth }, ...process.children.flatMap((child) => rowsOf(child, depth + 1))];
}
