import { join } from 'node:path';
import { findOrphans } from '../upstream/process/child-record.ts';

/** Returns the process groups of servers whose gateway has died. The next start of a gateway ends these processes. */
export function findStaleProcesses(stateDir: string): readonly number[] {
  return findOrphans(join(stateDir, 'run')).flatMap(({ groups }) => groups);
}
