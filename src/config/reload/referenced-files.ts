import { dirname, resolve } from 'node:path';
import { hashFile } from '../../core/lib/hash-file.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { ConfigSnapshot, UpstreamConfig } from '../config.ts';
import { createReferenceReader, parseReferences } from '../resolve-references.ts';
import { listServerTexts } from '../server-texts.ts';
import type { ConfigDiff } from './diff-config.ts';

/** Digests of the files that a configuration refers to, by path. */
export type ReferencedFiles = ReadonlyMap<string, string>;

/** Returns the paths of user-defined guards, environment files and `${file:path}` references of servers; `home` replaces `~`. */
export function listReferencedFiles(snapshot: ConfigSnapshot, home: string): readonly string[] {
  const files = snapshot.value.upstreams.flatMap((upstream) => listServerFiles(upstream, snapshot, home));
  return [...new Set([...listGuardFiles(snapshot), ...files])];
}

export async function hashReferencedFiles(snapshot: ConfigSnapshot, home: string): Promise<ReferencedFiles> {
  const files = listReferencedFiles(snapshot, home);
  return new Map(await Promise.all(files.map(async (file) => [file, await hashFile(file)] as const)));
}

/** Adds the servers and guards whose files have changed to a diff. */
export function addFileChanges(
  diff: ConfigDiff,
  snapshot: ConfigSnapshot,
  {
    before,
    after,
    home,
  }: { readonly before: ReferencedFiles; readonly after: ReferencedFiles; readonly home: string },
): ConfigDiff {
  const isChanged = (file: string): boolean => before.has(file) && before.get(file) !== after.get(file);
  const known = new Set<UpstreamName>([...diff.reopened, ...diff.added]);
  const affected = snapshot.value.upstreams
    .filter(
      (upstream) => listServerFiles(upstream, snapshot, home).some(isChanged) && !known.has(upstream.name),
    )
    .map(({ name }) => name);
  const isGuardChanged = listGuardFiles(snapshot).some(isChanged) && !diff.settings.includes('guards');
  return {
    ...diff,
    reopened: [...diff.reopened, ...affected],
    adjusted: diff.adjusted.filter((name) => !affected.includes(name)),
    settings: isGuardChanged ? [...diff.settings, 'guards'] : diff.settings,
  };
}

function listGuardFiles({ file, value }: ConfigSnapshot): readonly string[] {
  return value.guards.map((module) => resolve(dirname(file), module));
}

/** Returns the absolute paths of the files that are read when the server is opened. */
function listServerFiles(server: UpstreamConfig, { file }: ConfigSnapshot, home: string): readonly string[] {
  const envFile = server.transport.kind === 'http' ? undefined : server.transport.envFile;
  const paths = listServerTexts(server).flatMap((text) =>
    parseReferences(text).flatMap((part) =>
      typeof part !== 'string' && part.from === 'file' ? [part.name] : [],
    ),
  );
  // If the path of an environment file contains a reference, the path is known only when it is used.
  if (envFile !== undefined && !envFile.includes('$')) paths.push(envFile);
  const reader = createReferenceReader({ env: {}, home, configFile: file });
  return paths.map((path) => reader.resolve(path));
}
