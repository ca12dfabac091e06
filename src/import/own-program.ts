import { realpathSync } from 'node:fs';
import { parseDocument, valueOf } from '../config/file/document.ts';
import { isJsonObject } from '../model/json.ts';
import type { OwnProgram } from './own-entry.ts';

/** How this program is known to those who may have it in their configuration. */
export function ownProgram(
  file: string,
  { configText, addresses = [] }: { readonly configText: string; readonly addresses?: readonly string[] },
): OwnProgram {
  const parsed = parseDocument(configText);
  const value = 'problem' in parsed ? undefined : valueOf(parsed.root);
  const http = isJsonObject(value) && isJsonObject(value['http']) ? value['http'] : {};
  const configured = http['address'];
  return {
    files: [...new Set([file, real(file)])],
    addresses: [
      ...new Set(['127.0.0.1:7332', ...(typeof configured === 'string' ? [configured] : []), ...addresses]),
    ],
  };
}

function real(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file; // It is compared as it is then.
  }
}
