import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolderSync } from '../../core/lib/make-folder.ts';
import { readProcStat } from '../../core/lib/read-proc-stat.ts';
import { isJsonObject } from '../../core/json.ts';

/**
 * Records the process groups of this gateway in a file. If both the gateway and the watchdog are killed, the next start of a gateway ends
 * the groups that are left. A process is identified by its id and its start time, because ids are reused.
 */
export class ChildRecord {
  readonly #file: string;
  readonly #groups = new Map<number, string>();

  constructor(runDir: string, pid: number) {
    this.#file = join(runDir, `children-${pid}.json`);
  }

  add(group: number): void {
    const started = readProcStat(group)?.startTime;
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
        writeFileSync(
          this.#file,
          JSON.stringify({ by: readProcStat(process.pid)?.startTime, groups: [...this.#groups] }),
          {
            mode: 0o600,
          },
        );
      }
    } catch {
      // Ignored: the record only matters if the watchdog fails, too.
    }
  }
}

/** Ends the process groups of gateways that no longer run; returns how many were still alive. */
export function sweepOrphans(runDir: string): number {
  let ended = 0;
  for (const { file, groups } of findOrphans(runDir)) {
    for (const group of groups) if (killGroup(group)) ended++;
    try {
      rmSync(file, { force: true });
    } catch {
      // Ignored: the next start tries again.
    }
  }
  return ended;
}

/** Returns the records of gateways that no longer run, with their groups that are still alive. */
export function findOrphans(
  runDir: string,
): readonly { readonly file: string; readonly groups: readonly number[] }[] {
  return listFiles(runDir).flatMap((name) => {
    const pid = /^children-(\d+)\.json$/.exec(name)?.[1];
    if (pid === undefined) return [];
    const file = join(runDir, name);
    const { by, groups } = readRecord(file);
    const gateway = readProcStat(Number(pid));
    if (by !== undefined && by === gateway?.startTime && gateway.state !== 'Z') return [];
    const alive = groups.filter(([group, started]) => readProcStat(group)?.startTime === started);
    return [{ file, groups: alive.map(([group]) => group) }];
  });
}

/** Reads the valid parts of a record; a damaged one must not end unrelated processes. */
function readRecord(file: string): {
  readonly by: string | undefined;
  readonly groups: readonly (readonly [number, string])[];
} {
  let record: unknown;
  try {
    record = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    record = undefined; // The record is missing or damaged.
  }
  const { by, groups } = isJsonObject(record) ? record : {};
  const isGroup = (value: unknown): value is readonly [number, string] =>
    Array.isArray(value) && Number.isInteger(value[0]) && value[0] > 1 && typeof value[1] === 'string';
  return {
    by: typeof by === 'string' ? by : undefined,
    groups: Array.isArray(groups) ? groups.filter(isGroup) : [],
  };
}

function killGroup(group: number): boolean {
  try {
    return process.kill(-group, 'SIGKILL');
  } catch {
    return false; // It has exited by itself.
  }
}

function listFiles(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return []; // No server was ever started.
  }
}
