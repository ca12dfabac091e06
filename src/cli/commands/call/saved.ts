import { constants } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../../../lib/make-folder.ts';
import { GatewayError } from '../../../model/errors.ts';

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
const WHY: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file',
  ENOTDIR: 'a file is in the way',
  ENOENT: 'there is no place for a folder',
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'nothing can be written there',
  ENOSPC: 'the disk is full',
};
const MAX_NAME = 100;
const MAX_TRIES = 1000;

/** The folder of `--out`, made before anything else is done: a call whose result cannot be kept is not made. */
export async function outFolder(out: string | undefined, cwd: string): Promise<string | undefined> {
  if (out === undefined) return undefined;
  const folder = resolve(cwd, out);
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK);
  } catch (error) {
    throw cannotSave(folder, error);
  }
  return folder;
}

/** Writes into the folder under a name that can do no harm, never over a file that is there; gives the path. */
export async function saved(
  folder: string,
  content: { readonly bytes: Uint8Array; readonly wish: string; readonly mimeType: string | undefined },
): Promise<string> {
  const { stem, extension } = safeName(content.wish, content.mimeType);
  try {
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      const path = join(folder, `${stem}${attempt === 1 ? '' : `-${attempt}`}${extension}`);
      if (await written(path, content.bytes)) return path;
    }
  } catch (error) {
    throw cannotSave(folder, error);
  }
  throw new GatewayError('USAGE', `${folder} has too many files named ${stem}${extension} already.`);
}

function cannotSave(folder: string, error: unknown): GatewayError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  const why = WHY[code] ?? code;
  return new GatewayError('USAGE', `Cannot save to ${folder}: ${why}.`, { cause: error });
}

/** The server chooses the name, so nothing in it may lead elsewhere, hide the file or mean something to a shell. */
export function safeName(
  wish: string,
  mimeType: string | undefined,
): { readonly stem: string; readonly extension: string } {
  const last = wish.split(/[/\\?#]/).findLast((part) => part !== '') ?? '';
  const clean = last
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^[._-]+/, '')
    .slice(-MAX_NAME);
  const [, stem = '', own] = /^(.*?)(\.[A-Za-z0-9]{1,8})?$/.exec(clean) ?? [];
  const known = EXTENSIONS[(mimeType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''];
  const extension = own ?? (known === undefined ? '.bin' : `.${known}`);
  // Windows takes these for devices.
  const isDevice = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i.test(stem.split('.')[0] ?? '');
  return { stem: stem === '' || isDevice ? 'content' : stem, extension };
}

async function written(path: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await writeFile(path, bytes, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
