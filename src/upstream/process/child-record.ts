import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolderSync } from '../../core/lib/make-folder.ts';
import { readProcStat } from '../../core/lib/read-proc-stat.ts';
import { isJsonObject } from '../../core/json.ts';

/**
 * Records the process groups of this gateway's servers in a file. If both the gateway and the watchdog are killed, the next gateway that
 * starts kills the remaining groups. A process is identified by its id and its start time, because ids are reused. A group has the id of
 * its first process.
 */
export class ChildRecord {
  readonly #file: string;
  /** The start time of the first process of each group, by the id of the group. */
  readonly #groups = new Map<number, string>();

  constructor(runDir: string, pid: number) {
    this.#file = join(runDir, `children-${pid}.json`);
  }

  add(group: number): void {
    const startTime = readProcStat(group)?.startTime;
    // The process has already exited, or the system has no /proc.
    if (startTime === undefined) return;
    this.#groups.set(group, startTime);
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
      // Ignored: the record is needed only if the watchdog fails, too.
    }
  }
}

/** Kills the process groups of gateways that no longer run; returns how many it killed. */
export function sweepOrphans(runDir: string): number {
  let killed = 0;
  for (const { file, groups } of findOrphans(runDir)) {
    for (const group of groups) if (killGroup(group)) killed++;
    try {
      rmSync(file, { force: true });
    } catch {
      // Ignored: the next start tries again.
    }
  }
  return killed;
}

/** Returns the records of gateways that no longer run, each with the groups whose first process is still alive. */
export function findOrphans(
  runDir: string,
): readonly { readonly file: string; readonly groups: readonly number[] }[] {
  return listFiles(runDir).flatMap((name) => {
    const pid = /^children-(\d+)\.json$/.exec(name)?.[1];
    if (pid === undefined) return [];
    const file = join(runDir, name);
    const { gatewayStartTime, groups } = readRecord(file);
    const gateway = readProcStat(Number(pid));
    const isRunning =
      gatewayStartTime !== undefined && gatewayStartTime === gateway?.startTime && gateway.state !== 'Z';
    if (isRunning) return [];
    const alive = groups.filter(([group, startTime]) => readProcStat(group)?.startTime === startTime);
    return [{ file, groups: alive.map(([group]) => group) }];
  });
}

/** Reads a record and leaves out invalid parts, because a damaged record must not cause unrelated processes to be killed. */
function readRecord(file: string): {
  readonly gatewayStartTime: string | undefined;
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
    gatewayStartTime: typeof by === 'string' ? by : undefined,
    groups: Array.isArray(groups) ? groups.filter(isGroup) : [],
  };
}

function killGroup(group: number): boolean {
  try {
    return process.kill(-group, 'SIGKILL');
  } catch {
    return false; // The group has already exited.
  }
}

function listFiles(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return []; // No server was ever started.
  }
}
