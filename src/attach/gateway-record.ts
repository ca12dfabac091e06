import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomicSync } from '../lib/atomic-file-sync.ts';
import { isJsonObject } from '../model/json.ts';
import { isAlive } from './is-alive.ts';

/** What a running gateway writes down about itself, for those who look for it. */
export interface GatewayRecord {
  /** Path of the socket, or name of the pipe on Windows. */
  readonly socket: string;
  readonly pid: number;
  readonly kind: 'background' | 'http';
  readonly version: string;
  readonly config: string;
  /** Of the configuration's text in use. */
  readonly revision: string;
  /** Of the values of the environment variables that the configuration refers to, under `salt`. */
  readonly environment: string;
  readonly salt: string;
  /** Where HTTP clients find it. */
  readonly url?: string;
  /** In milliseconds since 1970. */
  readonly since: number;
}

export function runDirOf(stateDir: string): string {
  return join(stateDir, 'run');
}

/** Of the gateway that clients and commands use; undefined when there is none, or none but these. */
export function readRecord(
  stateDir: string,
  unreachable: ReadonlySet<number> = new Set(),
): GatewayRecord | undefined {
  const place = readPlace(stateDir);
  if (place !== undefined && isAlive(place.pid) && !unreachable.has(place.pid)) return place;
  return readRecords(stateDir).find(({ pid }) => !unreachable.has(pid));
}

/**
 * Of every gateway here. First the one that took the place last, then the others that live, the newest first: whoever has the
 * place may be gone, and must not hide them.
 */
export function readRecords(stateDir: string): readonly GatewayRecord[] {
  const place = readPlace(stateDir);
  const others = readAnnounced(stateDir)
    .filter(({ pid }) => pid !== place?.pid && isAlive(pid))
    .toSorted((one, other) => other.since - one.since);
  if (place === undefined) return others;
  // In another container it has a number that means nothing here, and may be reached all the same.
  return isAlive(place.pid) ? [place, ...others] : [...others, place];
}

/** Of the gateway that was the last to take the place, whether it lives or not. */
export function readPlace(stateDir: string): GatewayRecord | undefined {
  return readFile(placeFile(stateDir));
}

/** What gateways have written about themselves alone, those that crashed included. */
export function readAnnounced(stateDir: string): readonly GatewayRecord[] {
  const dir = runDirOf(stateDir);
  let names: readonly string[];
  try {
    names = readdirSync(dir);
  } catch {
    return []; // No gateway has run yet.
  }
  return names.flatMap((name) => (OWN_FILE.test(name) ? (readFile(join(dir, name)) ?? []) : []));
}

/** Undefined when there is none, or none that this program understands. */
function readFile(file: string): GatewayRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // Not there, or not whole: both mean that nobody can be found this way.
  }
  if (!isJsonObject(value)) return undefined;
  const texts = ['socket', 'kind', 'version', 'config', 'revision', 'environment', 'salt'];
  const isWhole =
    texts.every((key) => typeof value[key] === 'string') &&
    Number.isSafeInteger(value['pid']) &&
    typeof value['since'] === 'number';
  // Each member was looked at.
  return isWhole ? (value as unknown as GatewayRecord) : undefined;
}

/** Makes it the first to be found. */
export function takePlace(stateDir: string, record: GatewayRecord): void {
  write(placeFile(stateDir), record);
}

/** Lets it be found when whoever has the place is gone. */
export function writeAnnounced(stateDir: string, record: GatewayRecord): void {
  write(ownFile(stateDir, record.pid), record);
}

/** Nobody finds this process any more; the place is left to whoever has taken it since. */
export function removeRecord(stateDir: string, pid: number): void {
  rmSync(ownFile(stateDir, pid), { force: true });
  if (readPlace(stateDir)?.pid === pid) rmSync(placeFile(stateDir), { force: true });
}

function write(file: string, record: GatewayRecord): void {
  writeFileAtomicSync(file, `${JSON.stringify(record, null, 2)}\n`, 0o600);
}

const OWN_FILE = /^gateway-\d+\.json$/;

function ownFile(stateDir: string, pid: number): string {
  return join(runDirOf(stateDir), `gateway-${pid}.json`);
}

function placeFile(stateDir: string): string {
  return join(runDirOf(stateDir), 'gateway.json');
}
