import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolderSync } from '../../lib/make-folder.ts';
import { isJsonObject } from '../../model/json.ts';

/**
 * Remembers which process groups are ours, so that the next start can end what a crash of both us and the watchdog
 * left behind. A process is known by its id and its start time; ids alone are used again.
 */
export class ChildRecord {
  readonly #file: string;
  readonly #groups = new Map<number, string>();

  constructor(runDir: string, pid: number) {
    this.#file = join(runDir, `children-${pid}.json`);
  }

  add(group: number): void {
    const started = startTime(group);
    if (started === undefined) return;
    this.#groups.set(group, started);
    this.#save();
  }

  remove(group: number): void {
    if (this.#groups.delete(group)) this.#save();
  }

  #save(): void {
    try {
      if (this.#groups.size === 0) rmSync(this.#file, { force: true });
      else {
        makeFolderSync(join(this.#file, '..'), 0o700);
        writeFileSync(this.#file, JSON.stringify({ by: startTime(process.pid), groups: [...this.#groups] }), {
          mode: 0o600,
        });
      }
    } catch {
      // Best effort: the watchdog is the first line, this is the second.
    }
  }
}

/** Ends the groups of gateways that are no more; returns how many were found alive. */
export function sweepOrphans(runDir: string): number {
  let ended = 0;
  for (const { file, groups } of findOrphans(runDir)) {
    for (const group of groups) if (killGroup(group)) ended++;
    try {
      rmSync(file, { force: true });
    } catch {
      // Best effort: where nothing can be removed it is looked at again next time.
    }
  }
  return ended;
}

/** The records of gateways that are no more, with those of their groups that are alive. */
export function findOrphans(
  runDir: string,
): readonly { readonly file: string; readonly groups: readonly number[] }[] {
  return listFiles(runDir).flatMap((name) => {
    const pid = /^children-(\d+)\.json$/.exec(name)?.[1];
    if (pid === undefined) return [];
    const file = join(runDir, name);
    const { by, groups } = readRecord(file);
    if (by !== undefined && by === startTime(Number(pid))) return [];
    const alive = groups.filter(([group, started]) => startTime(group) === started);
    return [{ file, groups: alive.map(([group]) => group) }];
  });
}

/** As much of a record as makes sense; a damaged one must not end anybody else. */
function readRecord(file: string): {
  readonly by: string | undefined;
  readonly groups: readonly (readonly [number, string])[];
} {
  let record: unknown;
  try {
    record = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    record = undefined; // There is nothing to learn from it.
  }
  const { by, groups } = isJsonObject(record) ? record : {};
  const isGroup = (claim: unknown): claim is readonly [number, string] =>
    Array.isArray(claim) && Number.isInteger(claim[0]) && claim[0] > 1 && typeof claim[1] === 'string';
  return {
    by: typeof by === 'string' ? by : undefined,
    groups: Array.isArray(groups) ? groups.filter(isGroup) : [],
  };
}

function killGroup(group: number): boolean {
  try {
    return process.kill(-group, 'SIGKILL');
  } catch {
    return false; // It ended by itself.
  }
}

function listFiles(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return []; // Nothing has ever run here.
  }
}

/** Field 22 of /proc/PID/stat; undefined where the process or /proc does not exist. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
