import { join } from 'node:path';
import { findOrphans } from '../upstream/process/orphans.ts';

/** Processes of servers whose gateway is no more; the next start ends them. */
export function staleProcesses(stateDir: string): readonly number[] {
  return findOrphans(join(stateDir, 'run')).flatMap(({ groups }) => groups);
}
