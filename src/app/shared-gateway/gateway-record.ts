import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomicSync } from '../../core/lib/write-file-atomic-sync.ts';
import { isJsonObject } from '../../core/json.ts';
import { isProcessAlive } from '../../core/lib/is-process-alive.ts';

/** The record by which commands and stdio clients find a running gateway. */
export interface GatewayRecord {
  /** Path of the socket, or name of the pipe on Windows. */
  readonly socket: string;
  readonly pid: number;
  readonly kind: 'background' | 'http';
  readonly version: string;
  readonly config: string;
  /** Hash of the configuration text in use. */
  readonly revision: string;
  /** The address for HTTP clients. */
  readonly url?: string | undefined;
  /** Start time in milliseconds since 1970. */
  readonly since: number;
}

export function runDirOf(stateDir: string): string {
  return join(stateDir, 'run');
}

/**
 * Returns the record of the gateway that clients and commands should use, or undefined if there is none. Skips the gateways whose process
 * ids are in `unreachable`.
 */
export function findGatewayRecord(
  stateDir: string,
  unreachable: ReadonlySet<number> = new Set(),
): GatewayRecord | undefined {
  const current = readCurrentRecord(stateDir);
  if (current !== undefined && isProcessAlive(current.pid) && !unreachable.has(current.pid)) return current;
  return listGatewayRecords(stateDir).find(({ pid }) => !unreachable.has(pid));
}

/**
 * Returns the records of all gateways: the current one first, then the others that are alive, the newest first. A current gateway that
 * has died comes last, so that it does not hide the others.
 */
export function listGatewayRecords(stateDir: string): readonly GatewayRecord[] {
  const current = readCurrentRecord(stateDir);
  const others = readProcessRecords(stateDir)
    .filter(({ pid }) => pid !== current?.pid && isProcessAlive(pid))
    .toSorted((one, other) => other.since - one.since);
  if (current === undefined) return others;
  // A gateway in another container looks dead, because its process id is unknown here, but it can still be reached.
  return isProcessAlive(current.pid) ? [current, ...others] : [...others, current];
}

/** Returns the record in `run/gateway.json`, whether that gateway is alive or not. */
export function readCurrentRecord(stateDir: string): GatewayRecord | undefined {
  return readRecordFile(currentRecordFile(stateDir));
}

/** Returns the records in `run/gateway-PID.json`, including those of crashed gateways. */
export function readProcessRecords(stateDir: string): readonly GatewayRecord[] {
  const dir = runDirOf(stateDir);
  let names: readonly string[];
  try {
    names = readdirSync(dir);
  } catch {
    return []; // No gateway has run yet.
  }
  return names.flatMap((name) =>
    PROCESS_RECORD_FILE.test(name) ? (readRecordFile(join(dir, name)) ?? []) : [],
  );
}

/** Returns undefined if the file is missing or not a valid record. */
function readRecordFile(file: string): GatewayRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // The file is missing or incomplete.
  }
  if (!isJsonObject(value)) return undefined;
  const stringKeys = ['socket', 'kind', 'version', 'config', 'revision'];
  const isComplete =
    stringKeys.every((key) => typeof value[key] === 'string') &&
    Number.isSafeInteger(value['pid']) &&
    typeof value['since'] === 'number';
  // Every required member has been checked.
  return isComplete ? (value as unknown as GatewayRecord) : undefined;
}

/** Makes this gateway the one that clients and commands find first. */
export function writeCurrentRecord(stateDir: string, record: GatewayRecord): void {
  writeRecordFile(currentRecordFile(stateDir), record);
}

/** Writes `run/gateway-PID.json`, by which clients find this gateway when the current gateway has stopped. */
export function writeProcessRecord(stateDir: string, record: GatewayRecord): void {
  writeRecordFile(processRecordFile(stateDir, record.pid), record);
}

/** Removes the records of this process, unless another gateway has replaced `run/gateway.json`. */
export function removeProcessRecords(stateDir: string, pid: number): void {
  rmSync(processRecordFile(stateDir, pid), { force: true });
  if (readCurrentRecord(stateDir)?.pid === pid) rmSync(currentRecordFile(stateDir), { force: true });
}

function writeRecordFile(file: string, record: GatewayRecord): void {
  writeFileAtomicSync(file, `${JSON.stringify(record, null, 2)}\n`, 0o600);
}

const PROCESS_RECORD_FILE = /^gateway-\d+\.json$/;

function processRecordFile(stateDir: string, pid: number): string {
  return join(runDirOf(stateDir), `gateway-${pid}.json`);
}

function currentRecordFile(stateDir: string): string {
  return join(runDirOf(stateDir), 'gateway.json');
}
