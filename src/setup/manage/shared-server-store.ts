import type { Kysely } from 'kysely';

import { parseDocument } from '../../config/file/document.ts';
import {
  checkEdit,
  configConflictError,
  parseConfigDocument,
  readServerEntries,
} from '../../config/file/edit-config.ts';
import type { ConfigDocument, ConfigEdit } from '../../config/file/edit-config.ts';
import { setMember } from '../../config/file/set-member.ts';
import { readConfigText } from '../../config/load-config.ts';
import { canonicalJson } from '../../core/lib/canonical-json.ts';
import { seal, unseal } from '../../core/lib/seal.ts';
import type { Database } from '../../core/storage/database.ts';
import { storeProblemOf } from '../../core/storage/store-error.ts';
import type { Tables } from '../../core/storage/tables.ts';
import type { Logger } from '../../observability/log.ts';
import type { SharedConfigStore } from './server-editor.ts';

interface SharedServerStoreDeps {
  /** The absolute path of the configuration, which is only read. */
  readonly file: string;
  readonly version: string;
  readonly database: () => Promise<Database>;
  /** Encrypts the entries, because they may contain secrets. */
  readonly key: { get(): Promise<Buffer> };
  readonly now: () => number;
  readonly log: Logger;
}

/** Changed entries by name. The value is undefined if the server was removed. */
type EntryChanges = ReadonlyMap<string, unknown>;

/**
 * Stores the servers that programs add, change or remove at any of the gateways on one database. The configuration file of each
 * gateway stays unchanged; the changes are applied to its text.
 */
export class SharedServerStore implements SharedConfigStore {
  readonly #deps: SharedServerStoreDeps;
  /** The changes that were last read, for use while the database is unavailable. */
  #lastChanges: EntryChanges = new Map();

  constructor(deps: SharedServerStoreDeps) {
    this.#deps = deps;
  }

  /** Applies the changes to the text of a file. While the database is unavailable, applies the last known changes. */
  async applyTo(base: string): Promise<string> {
    try {
      const { query } = await this.#deps.database();
      this.#lastChanges = await this.#readChanges(query);
    } catch (error) {
      if (storeProblemOf(error) === undefined) throw error;
      this.#deps.log.warn(
        'Servers that were added at other gateways cannot be read; the last known ones stay in use.',
        { reason: String(error) },
      );
    }
    return applyChanges(base, this.#lastChanges);
  }

  async text(): Promise<string> {
    return this.applyTo(await readConfigText(this.#deps.file));
  }

  /** Reads the configuration for a change. Rejects while the database is unavailable, since the change would be based on old data. */
  async read(): Promise<ConfigDocument> {
    const { file } = this.#deps;
    const { query } = await this.#deps.database();
    const text = applyChanges(await readConfigText(file), await this.#readChanges(query));
    return parseConfigDocument(file, text);
  }

  /** Stores the differences from the file. Rejects if the configuration has changed since it was read. */
  async save(document: ConfigDocument, edits: readonly ConfigEdit[]): Promise<string> {
    const { file, version } = this.#deps;
    const text = edits.reduce((before, { path, value }) => setMember(before, path, value), document.text);
    checkEdit(document, text, version);
    const { query, changes: notifications } = await this.#deps.database();
    const key = await this.#deps.key.get();
    await query.transaction().execute(async (transaction) => {
      const [base, stored] = [await readConfigText(file), await this.#readChanges(transaction)];
      if (applyChanges(base, stored) !== document.text) throw configConflictError(file);
      const [before, after] = [readServerEntries(base), readServerEntries(text)];
      for (const name of new Set([...before.keys(), ...after.keys(), ...stored.keys()])) {
        const entry = after.get(name);
        await transaction.deleteFrom('runtime_servers').where('name', '=', name).execute();
        // An entry that equals that of the file is not stored, so later edits of the file apply to it.
        if (isEqual(entry, before.get(name))) continue;
        const body = seal(JSON.stringify({ entry: entry ?? null }), key, ['server', name]);
        const row = { name, body, changed_at: this.#deps.now() };
        await transaction.insertInto('runtime_servers').values(row).execute();
      }
      await notifications.announce(transaction, 'runtime-servers');
    });
    return text;
  }

  async #readChanges(query: Kysely<Tables>): Promise<EntryChanges> {
    const rows = await query.selectFrom('runtime_servers').select(['name', 'body']).execute();
    if (rows.length === 0) return new Map();
    const key = await this.#deps.key.get();
    const changes = new Map<string, unknown>();
    // Databases sort texts differently, so sorting here gives the same text at all gateways.
    for (const { name, body } of rows.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      const decrypted = unseal(body, key, ['server', name]);
      if (decrypted === undefined) {
        this.#deps.log.warn(
          'A server that was added at another gateway cannot be decrypted; set the same storage.key at all gateways.',
          { server: name },
        );
        continue;
      }
      changes.set(name, (JSON.parse(decrypted) as { entry: unknown }).entry ?? undefined);
    }
    return changes;
  }
}

/** Applies changes to the text of a file. An invalid text is returned unchanged; its problem is reported when it is validated. */
function applyChanges(base: string, changes: EntryChanges): string {
  if (changes.size === 0 || 'problem' in parseDocument(base)) return base;
  let text = base;
  for (const [name, entry] of changes) text = setMember(text, ['mcpServers', name], entry);
  return text;
}

function isEqual(one: unknown, other: unknown): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null);
}
