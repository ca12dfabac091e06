import type { Kysely } from 'kysely';

import { seal, unseal } from '../../lib/sealed.ts';
import type { KeySource } from '../../auth/upstream/sealing/secret-key.ts';
import { checkEdit, conflict, documentFrom, serversIn } from '../../config/file/edit.ts';
import type { ConfigDocument, ConfigEdit } from '../../config/file/edit.ts';
import { parseDocument } from '../../config/file/document.ts';
import { readConfigText } from '../../config/load.ts';
import { withMember } from '../../config/file/splice.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Logger } from '../../observe/log.ts';
import type { Database } from '../../storage/database.ts';
import { troubleOf } from '../../storage/store-error.ts';
import type { Tables } from '../../storage/tables.ts';

interface SharedServersDeps {
  /** The configuration; absolute. It is read, and never written. */
  readonly file: string;
  readonly version: string;
  readonly database: () => Promise<Database>;
  /** Entries may have secrets in them. */
  readonly key: KeySource;
  readonly now: () => number;
  readonly log: Logger;
}

/** By name; undefined where a server of the file was removed. */
type Changed = ReadonlyMap<string, unknown>;

/** Servers that were added, changed or removed by program at any gateway of one database. The file of each stays as it was written. */
export class SharedServers {
  readonly #deps: SharedServersDeps;
  #known: Changed = new Map();

  constructor(deps: SharedServersDeps) {
    this.#deps = deps;
  }

  /** What a file says, with what was changed; while the database is away, with what was known of that. */
  async appliedTo(base: string): Promise<string> {
    try {
      const { query } = await this.#deps.database();
      this.#known = await this.#changed(query);
    } catch (error) {
      if (troubleOf(error) === undefined) throw error;
      this.#deps.log.warn('Servers that were added at other gateways cannot be read now.', {
        reason: String(error),
      });
    }
    return withChanged(base, this.#known);
  }

  async text(): Promise<string> {
    return this.appliedTo(await readConfigText(this.#deps.file));
  }

  /** For a change that follows, which must not be of something old: the database has to be there. */
  async read(): Promise<ConfigDocument> {
    const { file } = this.#deps;
    const { query } = await this.#deps.database();
    return documentFrom(file, withChanged(await readConfigText(file), await this.#changed(query)));
  }

  /** Stores what is otherwise than in the file, unless somebody has changed something since it was read. */
  async save(document: ConfigDocument, edits: readonly ConfigEdit[]): Promise<string> {
    const { file, version } = this.#deps;
    const text = edits.reduce((before, { path, value }) => withMember(before, path, value), document.text);
    checkEdit(document, text, version);
    const { query, changes } = await this.#deps.database();
    const key = await this.#deps.key.get();
    await query.transaction().execute(async (transaction) => {
      const [base, changed] = [await readConfigText(file), await this.#changed(transaction)];
      if (withChanged(base, changed) !== document.text) throw conflict(file);
      const [before, after] = [serversIn(base), serversIn(text)];
      for (const name of new Set([...before.keys(), ...after.keys(), ...changed.keys()])) {
        const entry = after.get(name);
        await transaction.deleteFrom('runtime_servers').where('name', '=', name).execute();
        if (isSame(entry, before.get(name))) continue;
        const body = seal(JSON.stringify({ entry: entry ?? null }), key, ['server', name]);
        const row = { name, body, changed_at: this.#deps.now() };
        await transaction.insertInto('runtime_servers').values(row).execute();
      }
      await changes.announce(transaction, 'runtime-servers');
    });
    return text;
  }

  async #changed(query: Kysely<Tables>): Promise<Changed> {
    const rows = await query.selectFrom('runtime_servers').select(['name', 'body']).execute();
    if (rows.length === 0) return new Map();
    const key = await this.#deps.key.get();
    const changed = new Map<string, unknown>();
    // By our own order, so that all gateways make the same text of it.
    for (const { name, body } of rows.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      const opened = unseal(body, key, ['server', name]);
      if (opened === undefined)
        this.#deps.log.warn(
          'A server that was added elsewhere cannot be decrypted; is storage.key the same?',
          {
            server: name,
          },
        );
      else changed.set(name, (JSON.parse(opened) as { entry: unknown }).entry ?? undefined);
    }
    return changed;
  }
}

/** A file that is no JSON is told about by whoever reads it next. */
function withChanged(base: string, changed: Changed): string {
  if (changed.size === 0 || 'problem' in parseDocument(base)) return base;
  let text = base;
  for (const [name, entry] of changed) text = withMember(text, ['mcpServers', name], entry);
  return text;
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null);
}
