import { lstatSync, readdirSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { GatewayError } from '../core/errors.ts';
import { quoteShellWord } from '../core/lib/quote-shell-word.ts';
import type { Locations } from './find-config.ts';

const EVERYONE_WRITES = 0o002;
/** The mode bit of a folder, such as /tmp, that allows only the owner of a file to replace it. */
const STICKY = 0o1000;
const PERMISSIONS = 0o7777;
const ROOT = 0;

/**
 * Rejects a configuration or state that another user of the machine may have written. These files decide which programs run, which socket
 * the commands connect to, and which approvals exist. Group permissions are accepted, because containers and shared services need them.
 */
export function checkFolderOwners({ configFile, stateDir }: Locations, user: number | undefined): void {
  if (user === undefined) return; // Windows has no numeric user ids.
  for (const folder of new Set([dirname(configFile), dirname(stateDir)]))
    checkPath(folder, readStats(folder, statSync), { user, isParent: true });
  for (const path of [configFile, stateDir]) checkPath(path, readStats(path, statSync), { user });
  for (const name of listNames(stateDir)) {
    const path = join(stateDir, name);
    checkPath(path, readStats(path, lstatSync), { user });
  }
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // There is no state yet, or its first use reports why it cannot be read.
  }
}

/** Returns undefined if the path does not exist or cannot be reached. In the second case, its first use reports the reason. */
function readStats(path: string, read: (path: string) => Stats): Stats | undefined {
  try {
    return read(path);
  } catch {
    return undefined;
  }
}

function checkPath(
  path: string,
  found: Stats | undefined,
  { user, isParent = false }: { readonly user: number; readonly isParent?: boolean },
): void {
  if (found === undefined) return;
  const { uid, mode } = found;
  if (uid !== user && uid !== ROOT)
    throw new GatewayError(
      'CONFIG_UNTRUSTED',
      `${path} belongs to another user (id ${uid}), who could decide which programs run here. Delete it, set TRUNKLINE_HOME to a folder of your own, or, if you know its content, run as root: chown -R ${user} ${quoteShellWord(path)}`,
      { details: { file: path, owner: uid } },
    );
  const isProtected = found.isSymbolicLink() || (isParent && (mode & STICKY) !== 0);
  if ((mode & EVERYONE_WRITES) === 0 || isProtected) return;
  throw new GatewayError(
    'CONFIG_UNTRUSTED',
    `Every user of this machine can change ${path}, and so decide which programs run here. Check that its content is yours, then run: chmod o-w ${quoteShellWord(path)}`,
    { details: { file: path, mode: (mode & PERMISSIONS).toString(8) } },
  );
}
