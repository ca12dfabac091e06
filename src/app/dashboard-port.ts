import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../core/lib/write-file-atomic.ts';

/** The dashboard uses a port from 20,000 to 29,999: systems assign higher ports to outgoing connections, and lower ports belong to known services. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;

/** Returns the saved port of this configuration's dashboard, so that bookmarks of its address stay valid. Without a saved port, derives one. */
export function chooseDashboardPort(stateDir: string): number {
  return readSavedPort(stateDir) ?? derivePort(stateDir);
}

export function hasDashboardPort(stateDir: string): boolean {
  return readSavedPort(stateDir) !== undefined;
}

/** Saves the port, unless one is saved already: if the dashboard could not use that port, another program probably uses it only for a while. */
export async function saveDashboardPort(stateDir: string, port: string): Promise<void> {
  if (hasDashboardPort(stateDir)) return;
  // If the port cannot be saved, the next start tries the derived port.
  await writeFileAtomic(portFile(stateDir), `${port}\n`, 0o600).catch(() => {});
}

/** Returns a port that is always the same for this state folder, and probably different for others. */
function derivePort(stateDir: string): number {
  return FIRST_PORT + (createHash('sha256').update(stateDir).digest().readUInt32BE() % PORTS);
}

function readSavedPort(stateDir: string): number | undefined {
  try {
    const port = Number(readFileSync(portFile(stateDir), 'utf8'));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
  } catch {
    return undefined; // No port has been saved.
  }
}

function portFile(stateDir: string): string {
  return join(stateDir, 'dashboard-port');
}
