import { constants } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../../../core/lib/make-folder.ts';
import { GatewayError } from '../../../core/errors.ts';

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/mp4': 'm4a',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'application/zip': 'zip',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/html': 'html',
  'text/csv': 'csv',
};
/** Explanations for the error codes of Node. */
const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file',
  ENOTDIR: 'a file is in the way',
  ENOENT: 'the parent folder cannot be created',
  EACCES: 'you do not have permission to write there',
  EPERM: 'you do not have permission to write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};
/** The maximum length of a file name, in characters. */
const MAX_NAME_LENGTH = 100;
/** The maximum number of names that are tried: `name`, `name-2`, `name-3` and so on. */
const MAX_ATTEMPTS = 1000;

/** Creates the folder of `--out`. Commands do this first, so that they never make a call whose result cannot be saved. */
export async function prepareOutFolder(out: string | undefined, cwd: string): Promise<string | undefined> {
  if (out === undefined) return undefined;
  const folder = resolve(cwd, out);
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK);
  } catch (error) {
    throw saveError(folder, error);
  }
  return folder;
}

/** Saves content in the folder under a safe name, without overwriting a file. Returns the path. */
export async function saveContent(
  folder: string,
  content: { readonly bytes: Uint8Array; readonly nameHint: string; readonly mimeType: string | undefined },
): Promise<string> {
  const { stem, extension } = toSafeFileName(content.nameHint, content.mimeType);
  try {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const path = join(folder, `${stem}${attempt === 1 ? '' : `-${attempt}`}${extension}`);
      if (await writeNewFile(path, content.bytes)) return path;
    }
  } catch (error) {
    throw saveError(folder, error);
  }
  throw new GatewayError(
    'USAGE',
    `${folder} already has ${MAX_ATTEMPTS} files named ${stem}${extension}. Choose another folder with --out.`,
  );
}

function saveError(folder: string, error: unknown): GatewayError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return new GatewayError('USAGE', `Cannot save to ${folder}: ${REASONS[code] ?? code}.`, { cause: error });
}

/** Derives a file name from the name that the server suggests. The result cannot leave the folder, is not hidden and needs no quoting. */
export function toSafeFileName(
  nameHint: string,
  mimeType: string | undefined,
): { readonly stem: string; readonly extension: string } {
  const last = nameHint.split(/[/\\?#]/).findLast((part) => part !== '') ?? '';
  const clean = last
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^[._-]+/, '')
    .slice(-MAX_NAME_LENGTH);
  const [, stem = '', own] = /^(.*?)(\.[A-Za-z0-9]{1,8})?$/.exec(clean) ?? [];
  const known = EXTENSIONS[(mimeType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''];
  const extension = own ?? (known === undefined ? '.bin' : `.${known}`);
  // Windows reserves these names for devices.
  const isDevice = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i.test(stem.split('.')[0] ?? '');
  return { stem: stem === '' || isDevice ? 'content' : stem, extension };
}

/** Returns false if the file already exists. */
async function writeNewFile(path: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await writeFile(path, bytes, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
