import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../../core/lib/make-folder.ts';
import { readZip } from '../../../core/lib/read-zip.ts';
import type { ZipEntry } from '../../../core/lib/read-zip.ts';
import { parseBundleManifest } from './bundle-manifest.ts';
import type { BundleManifest } from './bundle-manifest.ts';

/** A bundle whose files were checked, but not unpacked. */
export interface BundleArchive {
  readonly manifest: BundleManifest;
  readonly files: readonly ZipEntry[];
}

/** The maximum size of the archive itself. */
export const MAX_ARCHIVE_BYTES = 256 * 2 ** 20;
const MAX_UNPACKED_BYTES = 512 * 2 ** 20;
const MAX_FILES = 50_000;
const MAX_MANIFEST_BYTES = 2 ** 20;
const MAX_PATH_CHARS = 1000;
const [PRIVATE_FILE, PRIVATE_PROGRAM, PRIVATE_FOLDER] = [0o600, 0o700, 0o700];

/** Reads and checks a bundle. Throws an error with the reason if it cannot be installed. */
export function readBundleArchive(bytes: Buffer, platform: NodeJS.Platform): BundleArchive {
  const entries = readZip(bytes, { maxEntries: MAX_FILES, maxBytes: MAX_UNPACKED_BYTES });
  const paths = new Set<string>();
  for (const entry of entries) {
    assertInside(entry);
    // On some systems, names that differ only in case are one file.
    const path = entry.name.toLowerCase();
    if (paths.has(path)) throw new Error(`it has the file ${JSON.stringify(entry.name)} twice`);
    paths.add(path);
  }
  const files = entries.filter(({ kind }) => kind === 'file');
  const manifestFile = files.find(({ name }) => name === 'manifest.json');
  if (manifestFile === undefined) throw new Error('it has no manifest.json');
  if (manifestFile.size > MAX_MANIFEST_BYTES) throw new Error('its manifest.json is larger than 1 MB');
  const manifest = parseBundleManifest(manifestFile.read().toString('utf8'), platform);
  const entryPoint = manifest.entryPoint.replace(/^\.\//, '');
  if (!files.some(({ name }) => name === entryPoint))
    throw new Error(`it does not contain its entry point ${JSON.stringify(manifest.entryPoint)}`);
  return { manifest: { ...manifest, entryPoint }, files };
}

/** Throws unless a path stays inside the folder that the bundle is unpacked to. */
function assertInside({ name, kind }: ZipEntry): void {
  const shown = JSON.stringify(name.slice(0, MAX_PATH_CHARS));
  if (kind === 'other') throw new Error(`it contains ${shown}, which is a link or a device`);
  const parts = name.replace(/\/$/, '').split('/');
  const isInside =
    name.length <= MAX_PATH_CHARS &&
    !/[\\\p{Cc}]|^[A-Za-z]:/u.test(name) &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isInside) throw new Error(`it contains the path ${shown}, which is not inside the bundle`);
}

/** Returns the folder of a bundle, which belongs to one server and version. */
export function getBundleFolder(stateDir: string, server: string, version: string): string {
  return join(getServerFolder(stateDir, server), toFolderName(version));
}

function getServerFolder(stateDir: string, server: string): string {
  return join(stateDir, 'bundles', toFolderName(server));
}

/** Names of servers may contain any character, and some file systems do not distinguish case. A hash keeps such names apart. */
function toFolderName(text: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(text)) return text;
  const readable = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40);
  return `_${readable}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

/** Unpacks a bundle. The folder is there completely or not at all; an older one is replaced. */
export async function unpackBundle({ manifest, files }: BundleArchive, folder: string): Promise<void> {
  const parent = dirname(folder);
  await makeFolder(parent, PRIVATE_FOLDER);
  const temporary = join(parent, `.${randomBytes(6).toString('hex')}.tmp`);
  await mkdir(temporary, { mode: PRIVATE_FOLDER });
  try {
    for (const { name, isExecutable, read } of files) {
      const path = join(temporary, name);
      await makeFolder(dirname(path), PRIVATE_FOLDER);
      const isProgram = isExecutable || name === manifest.entryPoint;
      await writeFile(path, read(), { flag: 'wx', mode: isProgram ? PRIVATE_PROGRAM : PRIVATE_FILE });
    }
    await rm(folder, { recursive: true, force: true });
    await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

/** Deletes the unpacked bundles of a server, except the folder that is still used. */
export async function removeBundles(stateDir: string, server: string, used?: string): Promise<void> {
  const folder = getServerFolder(stateDir, server);
  if (used === undefined) return rm(folder, { recursive: true, force: true });
  const names = await readdir(folder).catch(() => []); // The server has no bundle.
  for (const path of names.map((name) => join(folder, name)))
    if (path !== used) await rm(path, { recursive: true, force: true });
}
