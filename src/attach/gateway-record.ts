import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomicSync } from '../lib/atomic-file-sync.ts';
import { isJsonObject } from '../model/json.ts';

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

/** Undefined when there is none, or none that this program understands. */
export function readRecord(stateDir: string): GatewayRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(recordFile(stateDir), 'utf8'));
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

export function writeRecord(stateDir: string, record: GatewayRecord): void {
  writeFileAtomicSync(recordFile(stateDir), `${JSON.stringify(record, null, 2)}\n`, 0o600);
}

/** Removes it if it is still the one of this process. */
export function removeRecord(stateDir: string, pid: number): void {
  if (readRecord(stateDir)?.pid === pid) rmSync(recordFile(stateDir), { force: true });
}

function recordFile(stateDir: string): string {
  return join(runDirOf(stateDir), 'gateway.json');
}
