import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { UpstreamName } from '../../model/ids.ts';
import { AUTH_TEXTS } from '../auth-config.ts';
import type { ConfigSnapshot, UpstreamConfig } from '../config.ts';
import { parseReferences, referenceReader } from '../references.ts';
import type { ConfigDiff } from './diff-config.ts';

/** Digests of what files hold that a configuration names, by their paths. */
export type SideFiles = ReadonlyMap<string, string>;

/** Guards of one's own, files with environments, and what `${file:path}` of a server means; `home` is what `~` stands for. */
export function sideFilesOf(snapshot: ConfigSnapshot, home: string): readonly string[] {
  const files = snapshot.value.upstreams.flatMap((upstream) => filesOf(upstream, snapshot, home));
  return [...new Set([...guardFiles(snapshot), ...files])];
}

export async function readSideFiles(snapshot: ConfigSnapshot, home: string): Promise<SideFiles> {
  const files = sideFilesOf(snapshot, home);
  return new Map(await Promise.all(files.map(async (file) => [file, await digestOf(file)] as const)));
}

/** The same difference, with what follows from files that hold something else than before. */
export function withSideFiles(
  diff: ConfigDiff,
  snapshot: ConfigSnapshot,
  { before, after, home }: { readonly before: SideFiles; readonly after: SideFiles; readonly home: string },
): ConfigDiff {
  const isChanged = (file: string): boolean => before.has(file) && before.get(file) !== after.get(file);
  const known = new Set<UpstreamName>([...diff.reopened, ...diff.added]);
  const concerned = snapshot.value.upstreams
    .filter((upstream) => filesOf(upstream, snapshot, home).some(isChanged) && !known.has(upstream.name))
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

/** What is read when the server is opened, absolute. */
function filesOf(
  { transport, auth }: UpstreamConfig,
  { file }: ConfigSnapshot,
  home: string,
): readonly string[] {
  const texts = AUTH_TEXTS.flatMap((key) => auth?.[key] ?? []);
  let envFile: string | undefined;
  if (transport.kind === 'http') {
    texts.push(transport.url, ...Object.values(transport.headers));
  } else {
    ({ envFile } = transport);
    texts.push(transport.command, ...transport.args, ...Object.values(transport.env), transport.cwd ?? '');
  }
  const named = texts.flatMap((text) =>
    parseReferences(text).flatMap((part) =>
      typeof part !== 'string' && part.from === 'file' ? [part.name] : [],
    ),
  );
  // One with a reference in it is only known at the moment of use.
  if (envFile !== undefined && !envFile.includes('$')) named.push(envFile);
  const reader = referenceReader({ env: {}, home, configFile: file });
  return named.map((path) => reader.resolve(path));
}

async function digestOf(file: string): Promise<string> {
  try {
    // What is no file, such as the end of a pipe, can be read once and is not ours to read.
    if (!(await stat(file)).isFile()) return 'no file';
    return createHash('sha256')
      .update(await readFile(file))
      .digest('base64url');
  } catch {
    return 'unreadable';
  }
}
