import { parseDocument, valueOf } from '../config/file/document.ts';
import type { ConfigDocument } from '../config/file/edit.ts';
import { nearest } from '../lib/nearest.ts';
import { GatewayError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Trust } from './change-results.ts';
import type { ChangedBy } from './changed-by.ts';

/** The entry of a server that somebody named and may know of; with the names that may have been meant when there is none. */
export function entryIn({ servers, file }: ConfigDocument, name: string, by?: ChangedBy): JsonObject {
  // Whoever may not know of it is told what is told of what does not exist.
  if (!servers.has(name) || by?.sees?.(name) === false) {
    const known = [...servers.keys()].filter((each) => by?.sees?.(each) ?? true);
    const meant = nearest(name, known, 3);
    const hint = meant.length === 0 ? '' : ` Did you mean ${meant.join(', ')}?`;
    // Where the file lies is nothing that a model needs.
    const [place, details] = by?.is === 'model' ? ['', {}] : [` in ${file}`, { file }];
    throw new GatewayError('ENTRY_NOT_FOUND', `There is no server "${name.slice(0, 200)}"${place}.${hint}`, {
      details: { kind: 'server', server: name, ...details },
    });
  }
  const entry = servers.get(name);
  if (isJsonObject(entry)) return entry;
  throw new GatewayError('CONFIG_INVALID', `mcpServers.${name} in ${file} is not an object.`, {
    details: { file },
  });
}

export function isOn({ enabled, disabled }: JsonObject): boolean {
  return (enabled ?? disabled !== true) === true;
}

export function trustIn({ trust }: JsonObject): Trust {
  return trust === 'manual' || trust === 'scan' ? trust : 'first-sight';
}

/** A file that is changed by hand alone is not changed. */
export function refuseReadOnly({ file, text }: Pick<ConfigDocument, 'file' | 'text'>): void {
  if (!settingsIn(text).readOnly) return;
  throw new GatewayError(
    'CONFIG_READ_ONLY',
    `${file} is changed by hand alone ("readOnly": true); nothing was changed.`,
    { details: { file } },
  );
}

/** Whether gateways with files of their own share what is changed by program. */
export function sharesDatabase(text: string): boolean {
  const { storage } = topLevel(text);
  return isJsonObject(storage) && storage['url'] !== undefined;
}

/** What the file says about changing it. */
export function settingsIn(text: string): { readonly readOnly: boolean; readonly management: boolean } {
  const { readOnly, management } = topLevel(text);
  // What is there and no truth value is refused elsewhere; until then nothing is changed.
  return { readOnly: readOnly !== undefined && readOnly !== false, management: management === true };
}

/** Nothing where the file is no configuration, which is told elsewhere. */
function topLevel(text: string): JsonObject {
  const parsed = parseDocument(text);
  const value = 'problem' in parsed ? undefined : valueOf(parsed.root);
  return isJsonObject(value) ? value : {};
}
