import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { UpstreamName } from '../../model/ids.ts';
import type { ConfigSnapshot } from '../config.ts';
import type { ConfigDiff } from './diff-config.ts';

/** Digests of what files hold that a configuration names, by their paths. */
export type SideFiles = ReadonlyMap<string, string>;

/** Guards of one's own, and files with environments; references to other files are read whenever they are used. */
export function sideFilesOf(snapshot: ConfigSnapshot): readonly string[] {
  return [...new Set([...guardFiles(snapshot), ...snapshot.value.upstreams.flatMap(envFileOf)])];
}

export async function readSideFiles(snapshot: ConfigSnapshot): Promise<SideFiles> {
  const files = sideFilesOf(snapshot);
  return new Map(await Promise.all(files.map(async (file) => [file, await digestOf(file)] as const)));
}

/** The same difference, with what follows from files that hold something else than before. */
export function withSideFiles(
  diff: ConfigDiff,
  snapshot: ConfigSnapshot,
  { before, after }: { readonly before: SideFiles; readonly after: SideFiles },
): ConfigDiff {
  const isChanged = (file: string): boolean => before.has(file) && before.get(file) !== after.get(file);
  const known = new Set<UpstreamName>([...diff.reopened, ...diff.added]);
  const concerned = snapshot.value.upstreams
    .filter((upstream) => envFileOf(upstream).some(isChanged) && !known.has(upstream.name))
    .map(({ name }) => name);
  const isGuard = guardFiles(snapshot).some(isChanged) && !diff.settings.includes('guards');
  return {
    ...diff,
    reopened: [...diff.reopened, ...concerned],
    adjusted: diff.adjusted.filter((name) => !concerned.includes(name)),
    settings: isGuard ? [...diff.settings, 'guards'] : diff.settings,
  };
}

function guardFiles({ file, value }: ConfigSnapshot): readonly string[] {
  return value.guards.map((module) => resolve(dirname(file), module));
}

function envFileOf({ transport }: ConfigSnapshot['value']['upstreams'][number]): readonly string[] {
  // One with a reference in it is only known at the moment of use.
  if (transport.kind === 'http' || transport.envFile === undefined) return [];
  return isAbsolute(transport.envFile) && !transport.envFile.includes('$') ? [transport.envFile] : [];
}

async function digestOf(file: string): Promise<string> {
  try {
    return createHash('sha256')
      .update(await readFile(file))
      .digest('base64url');
  } catch {
    return 'unreadable';
  }
}
