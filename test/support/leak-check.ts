import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll } from 'vitest';

import { eventually } from './eventually.ts';
import { type RunningProcess, runningProcesses } from './processes.ts';
import { runVariable, testRun } from './test-run.ts';

/** Time for processes and handles to end by themselves. */
const graceMs = 3000;

/** Handles that the test runner opens and closes itself. */
const runnerHandles = new Set([
  'Timeout',
  'Immediate',
  'FSReqCallback',
  'FSReqPromise',
  'CloseReq',
  'MessagePort',
  'WriteWrap',
]);

/**
 * Fails the test file if it leaves processes, files of running gateways or open handles behind. Call it at the top of a
 * file, so that its check runs after every other hook. Remaining processes are killed, so they cannot disturb the next file.
 */
export function checkLeaks(): void {
  const before = listOpenResources();
  afterAll(async () => {
    const complain = (): void => {
      const left = findLeaks(before);
      if (left.length > 0) throw new Error(`left behind:\n  ${left.join('\n  ')}`);
    };
    try {
      await eventually(complain, { withinMs: graceMs, what: 'Leaving nothing behind' });
    } finally {
      for (const { pid } of leakedProcesses(before.children)) kill(pid);
    }
  }, graceMs + 10_000);
}

interface OpenResources {
  readonly children: ReadonlySet<number>;
  readonly handles: ReadonlyMap<string, number>;
}

/** Returns the child processes and handles that are open now. */
export function listOpenResources(): OpenResources {
  return {
    children: new Set(ownChildren(runningProcesses()).map(({ pid }) => pid)),
    handles: openHandles(),
  };
}

/** Describes the processes, files and handles of this run that did not exist before, one per line. */
export function findLeaks(before: OpenResources): readonly string[] {
  return [
    ...leakedProcesses(before.children).map(
      ({ pid, commandLine }) => `process ${pid}: ${commandLine.slice(0, 300)}`,
    ),
    ...leakedRunFiles(testRun().folder).map((file) => `file ${file}`),
    ...leakedHandles(before.handles),
  ];
}

/**
 * Returns the processes of this run that still run. The gateway passes on only few environment variables, and an orphan has
 * another parent, so each of the three criteria alone is enough.
 */
function leakedProcesses(childrenBefore: ReadonlySet<number>): readonly RunningProcess[] {
  const { id } = testRun();
  const all = runningProcesses();
  const ours = new Set(ownChildren(all).filter(({ pid }) => !childrenBefore.has(pid)));
  return all.filter(
    (one) =>
      one.pid !== process.pid &&
      (one.commandLine.includes(`--run=${id}`) ||
        one.environment.includes(`${runVariable}=${id}`) ||
        ours.has(one)),
  );
}

function ownChildren(all: readonly RunningProcess[]): RunningProcess[] {
  return all.filter(({ parent }) => parent === process.pid);
}

/** Files in `run/` folders mark a running gateway; a stopped one has none. */
function leakedRunFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && entry.parentPath.split(/[/\\]/).at(-1) === 'run')
    .map((entry) => join(entry.parentPath, entry.name));
}

function openHandles(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (!runnerHandles.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

function leakedHandles(before: ReadonlyMap<string, number>): string[] {
  return [...openHandles()].flatMap(([kind, count]) => {
    const more = count - (before.get(kind) ?? 0);
    return more > 0 ? [`${more} open ${kind}`] : [];
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Best effort: the process has exited in the meantime.
  }
}
