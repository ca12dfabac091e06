import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';

/** One process with those that it started. */
export interface ProcessNode {
  readonly pid: number;
  /** The name of the program, without its arguments. */
  readonly command: string;
  /** Resident. */
  readonly memoryBytes: number;
  readonly cpuSeconds: number;
  readonly children: readonly ProcessNode[];
}

interface ProcessRow extends Omit<ProcessNode, 'children'> {
  readonly parent: number;
}

/** In what the kernel of Linux counts the time of processes for programs, whatever it uses itself. */
const TICKS_PER_SECOND = 100;
const MAX_NODES = 500;
const PS_WITHIN_MS = 5000;

/** The processes of these numbers that still run, each with its descendants. */
export async function processTree(
  pids: readonly number[],
  platform: NodeJS.Platform,
): Promise<readonly ProcessNode[]> {
  if (pids.length === 0) return [];
  const rows = platform === 'linux' ? await rowsOfProc() : await rowsOfPs(platform);
  return treeOf(pids, rows);
}

/** Pure; a process that became its own ancestor by the reuse of numbers is there once. */
export function treeOf(pids: readonly number[], rows: readonly ProcessRow[]): readonly ProcessNode[] {
  const byParent = new Map<number, ProcessRow[]>();
  for (const row of rows) {
    const siblings = byParent.get(row.parent);
    if (siblings === undefined) byParent.set(row.parent, [row]);
    else siblings.push(row);
  }
  const known = new Map(rows.map((row) => [row.pid, row]));
  const taken = new Set<number>();
  const node = ({ parent: _, ...row }: ProcessRow): ProcessNode | undefined => {
    if (taken.has(row.pid) || taken.size >= MAX_NODES) return undefined;
    taken.add(row.pid);
    return { ...row, children: (byParent.get(row.pid) ?? []).flatMap((child) => node(child) ?? []) };
  };
  return pids.flatMap((pid) => {
    const row = known.get(pid);
    return row === undefined ? [] : (node(row) ?? []);
  });
}

export function memoryOf(nodes: readonly ProcessNode[]): number {
  return nodes.reduce((sum, { memoryBytes, children }) => sum + memoryBytes + memoryOf(children), 0);
}

async function rowsOfProc(): Promise<readonly ProcessRow[]> {
  const names = await readdir('/proc');
  const numbers = names.filter((name) => /^\d+$/.test(name));
  const rows = await Promise.all(numbers.map(rowOfProc));
  return rows.flatMap((row) => row ?? []);
}

async function rowOfProc(pid: string): Promise<ProcessRow | undefined> {
  try {
    const [stat, status] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1'),
      readFile(`/proc/${pid}/status`, 'latin1'),
    ]);
    // The name may hold blanks and parentheses, so that only its last one ends it.
    const end = stat.lastIndexOf(')');
    const command = stat.slice(stat.indexOf('(') + 1, end);
    const fields = stat.slice(end + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
    return {
      ...{ pid: Number(pid), parent: Number(fields[1]), command: plain(command) },
      ...{ memoryBytes: kilobytes * 1024, cpuSeconds: ticks / TICKS_PER_SECOND },
    };
  } catch {
    return undefined; // It has ended meanwhile.
  }
}

async function rowsOfPs(platform: NodeJS.Platform): Promise<readonly ProcessRow[]> {
  // What Windows has instead is slow and different in every version.
  if (platform === 'win32') return [];
  const text = await new Promise<string>((resolve) => {
    const args = ['-axo', 'pid=,ppid=,rss=,time=,comm='];
    execFile('ps', args, { timeout: PS_WITHIN_MS, maxBuffer: 8 * 1024 * 1024 }, (error, stdout) =>
      resolve(error === null ? stdout : ''),
    );
  });
  return text.split('\n').flatMap(rowOfPs);
}

/** One line of `ps -o pid=,ppid=,rss=,time=,comm=`. */
export function rowOfPs(line: string): readonly ProcessRow[] {
  const [, pid, parent, rss, time = '', command = ''] =
    /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
  if (pid === undefined) return [];
  const [days, clock = ''] = time.includes('-') ? time.split('-') : ['0', time];
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return [
    {
      ...{ pid: Number(pid), parent: Number(parent), command: plain(command.split('/').at(-1) ?? command) },
      ...{ memoryBytes: Number(rss) * 1024, cpuSeconds: Number(days) * 86_400 + seconds },
    },
  ];
}

/** A process can call itself anything. */
function plain(name: string): string {
  return name.replaceAll(/\p{Cc}/gu, ' ').slice(0, 100);
}
