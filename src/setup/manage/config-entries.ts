import { parseDocument, readNodeValue } from '../../config/file/document.ts';
import type { ConfigDocument } from '../../config/file/edit-config.ts';
import { findSimilar } from '../../core/lib/find-similar.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ChangeAuthor } from './change-author.ts';
import type { ServerTrust } from './change-results.ts';

/** Returns the entry of a server that the author may know of. Throws with similar names if there is none. */
export function findEntry(
  { servers, file }: ConfigDocument,
  name: string,
  author?: ChangeAuthor,
): JsonObject {
  const isVisible = (candidate: string): boolean => author?.canSee?.(candidate) ?? true;
  // A hidden server is reported like one that does not exist.
  if (!servers.has(name) || !isVisible(name)) {
    const similar = findSimilar(name, [...servers.keys()].filter(isVisible), 3);
    const hint = similar.length === 0 ? '' : ` Did you mean ${similar.join(', ')}?`;
    // A model does not need the path of the file.
    const [location, details] = author?.kind === 'model' ? ['', {}] : [` in ${file}`, { file }];
    const message = `There is no server "${name.slice(0, 200)}"${location}.${hint}`;
    throw new GatewayError('ENTRY_NOT_FOUND', message, {
      details: { kind: 'server', server: name, ...details },
    });
  }
  const entry = servers.get(name);
  if (isJsonObject(entry)) return entry;
  throw new GatewayError('CONFIG_INVALID', `mcpServers.${name} in ${file} is not an object.`, {
    details: { file },
  });
}

export function isEntryEnabled({ enabled, disabled }: JsonObject): boolean {
  return (enabled ?? disabled !== true) === true;
}

export function readServerTrust({ trust }: JsonObject): ServerTrust {
  return trust === 'manual' || trust === 'scan' ? trust : 'first-sight';
}

/** Throws if programs must not change the file. */
export function assertWritable({ file, text }: Pick<ConfigDocument, 'file' | 'text'>): void {
  if (!readManagementSettings(text).readOnly) return;
  throw new GatewayError(
    'CONFIG_READ_ONLY',
    `${file} has "readOnly": true, so nothing was changed; edit it by hand.`,
    { details: { file } },
  );
}

/** Whether the configuration sets a database that several gateways can share. Changes by programs then apply to all of these gateways. */
export function sharesDatabase(text: string): boolean {
  const { storage } = readTopLevel(text);
  return isJsonObject(storage) && storage['url'] !== undefined;
}

/** Returns the settings that decide who may change the file. */
export function readManagementSettings(text: string): {
  readonly readOnly: boolean;
  readonly management: boolean;
} {
  const { readOnly, management } = readTopLevel(text);
  // An invalid value of `readOnly` protects the file; validation reports it.
  return { readOnly: readOnly !== undefined && readOnly !== false, management: management === true };
}

/** Returns an empty object if the text is invalid, which is reported elsewhere. */
function readTopLevel(text: string): JsonObject {
  const parsed = parseDocument(text);
  const value = 'problem' in parsed ? undefined : readNodeValue(parsed.root);
  return isJsonObject(value) ? value : {};
}
