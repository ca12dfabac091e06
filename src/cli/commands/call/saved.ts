import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
const MAX_NAME = 100;
const MAX_TRIES = 1000;

/** Writes into the folder under a name that can do no harm, never over a file that is there; gives the path. */
export async function saved(
  folder: string,
  content: { readonly bytes: Uint8Array; readonly wish: string; readonly mimeType: string | undefined },
): Promise<string> {
  const { stem, extension } = safeName(content.wish, content.mimeType);
  try {
    await mkdir(folder, { recursive: true });
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      const path = join(folder, `${stem}${attempt === 1 ? '' : `-${attempt}`}${extension}`);
      if (await written(path, content.bytes)) return path;
    }
  } catch (error) {
    throw new GatewayError(
      'USAGE',
      `Cannot save to ${folder}: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  }
  throw new GatewayError('USAGE', `${folder} has too many files named ${stem}${extension} already.`);
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
