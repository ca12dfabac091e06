import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll } from 'vitest';

import { eventually } from './eventually.ts';
import { type RunningProcess, runningProcesses } from './processes.ts';
import { runVariable, testRun } from './test-run.ts';

/** What ends by itself is given this long to do so. */
const graceMs = 3000;

/** Handles that the test runner opens and closes as it likes. */
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
 * Fails the test file when it leaves processes, files of running gateways or open handles behind. Called at the top of a
 * file, so that its check runs after every other hook. What is left is ended, so that it cannot disturb the next file.
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

/** What is open before a test file has done anything. */
export function listOpenResources(): OpenResources {
  return {
    children: new Set(ownChildren(runningProcesses()).map(({ pid }) => pid)),
    handles: openHandles(),
  };
}

/** What is there now of this run that was not there before, a line each. */
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
 * Everything of this run that still lives. The gateway hands on only few environment variables, and an orphan has another
 * parent; so each of the three marks alone is enough.
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

/** Files in `run/` folders say that a gateway is running; a stopped one has none. */
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
    // Best effort: it ended between being seen and being killed.
  }
}
