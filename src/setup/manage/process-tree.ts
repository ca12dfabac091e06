import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';

/** A process with its child processes. */
export interface ProcessNode {
  readonly pid: number;
  /** The name of the program, without its arguments. */
  readonly command: string;
  /** Resident memory. */
  readonly memoryBytes: number;
  readonly cpuSeconds: number;
  readonly children: readonly ProcessNode[];
}

interface ProcessRow extends Omit<ProcessNode, 'children'> {
  readonly parent: number;
}

/** The unit of CPU times in `/proc` on Linux (`USER_HZ`), independent of the kernel's own tick rate. */
const TICKS_PER_SECOND = 100;
const MAX_NODES = 500;
const PS_TIMEOUT_MS = 5000;

/** Returns the processes that are still running, each with its descendants; none on Windows. */
export async function readProcessTree(
  pids: readonly number[],
  platform: NodeJS.Platform,
): Promise<readonly ProcessNode[]> {
  if (pids.length === 0) return [];
  const rows = platform === 'linux' ? await readProc() : await runPs(platform);
  return buildProcessTree(pids, rows);
}

/** Builds the trees. Process ids are reused, so a process may seem to be its own ancestor; each process occurs only once. */
export function buildProcessTree(
  pids: readonly number[],
  rows: readonly ProcessRow[],
): readonly ProcessNode[] {
  const byParent = new Map<number, ProcessRow[]>();
  for (const row of rows) {
    const siblings = byParent.get(row.parent);
    if (siblings === undefined) byParent.set(row.parent, [row]);
    else siblings.push(row);
  }
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const visited = new Set<number>();
  const buildNode = ({ parent: _, ...row }: ProcessRow): ProcessNode | undefined => {
    if (visited.has(row.pid) || visited.size >= MAX_NODES) return undefined;
    visited.add(row.pid);
    return { ...row, children: (byParent.get(row.pid) ?? []).flatMap((child) => buildNode(child) ?? []) };
  };
  return pids.flatMap((pid) => {
    const row = byPid.get(pid);
    return row === undefined ? [] : (buildNode(row) ?? []);
  });
}

export function sumMemory(nodes: readonly ProcessNode[]): number {
  return nodes.reduce((sum, { memoryBytes, children }) => sum + memoryBytes + sumMemory(children), 0);
}

async function readProc(): Promise<readonly ProcessRow[]> {
  const names = await readdir('/proc');
  const pids = names.filter((name) => /^\d+$/.test(name));
  const rows = await Promise.all(pids.map(readProcEntry));
  return rows.flatMap((row) => row ?? []);
}

async function readProcEntry(pid: string): Promise<ProcessRow | undefined> {
  try {
    const [stat, status] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1'),
      readFile(`/proc/${pid}/status`, 'latin1'),
    ]);
    // The name may contain spaces and parentheses, so it ends at the last closing parenthesis.
    const end = stat.lastIndexOf(')');
    const command = stat.slice(stat.indexOf('(') + 1, end);
    const fields = stat.slice(end + 2).split(' ');
    // The fields after the name are numbered from 0 here: 1 is the parent, and 11 and 12 are the CPU times in user and kernel mode.
    const ticks = Number(fields[11]) + Number(fields[12]);
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
    return {
      pid: Number(pid),
      parent: Number(fields[1]),
      command: sanitizeName(command),
      memoryBytes: kilobytes * 1024,
      cpuSeconds: ticks / TICKS_PER_SECOND,
    };
  } catch {
    return undefined; // The process has ended in the meantime.
  }
}

async function runPs(platform: NodeJS.Platform): Promise<readonly ProcessRow[]> {
  // Windows has no `ps`; its alternatives are slow and differ between versions.
  if (platform === 'win32') return [];
  const text = await new Promise<string>((resolve) => {
    const args = ['-axo', 'pid=,ppid=,rss=,time=,comm='];
    execFile('ps', args, { timeout: PS_TIMEOUT_MS, maxBuffer: 8 * 1024 * 1024 }, (error, stdout) =>
      resolve(error === null ? stdout : ''),
    );
  });
  return text.split('\n').flatMap(parsePsLine);
}

/** Parses one line of `ps -o pid=,ppid=,rss=,time=,comm=`. */
export function parsePsLine(line: string): readonly ProcessRow[] {
  const [, pid, parent, rss, time = '', command = ''] =
    /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
  if (pid === undefined) return [];
  // The CPU time has the form `[days-][hours:]minutes:seconds`.
  const [days, clock = ''] = time.includes('-') ? time.split('-') : ['0', time];
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return [
    {
      pid: Number(pid),
      parent: Number(parent),
      command: sanitizeName(command.split('/').at(-1) ?? command),
      memoryBytes: Number(rss) * 1024,
      cpuSeconds: Number(days) * 86_400 + seconds,
    },
  ];
}

/** Removes control characters, because a process can choose any name for itself. */
function sanitizeName(name: string): string {
  return name.replaceAll(/\p{Cc}/gu, ' ').slice(0, 100);
}
