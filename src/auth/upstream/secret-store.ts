import { createHash } from 'node:crypto';

import { isSecretReferenceName } from '../../config/resolve-references.ts';
import type { SecretReader } from '../../config/resolve-references.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Database } from '../../core/storage/database.ts';
import type { Logger } from '../../observability/log.ts';
import { JsonCipher } from './token-encryption/json-cipher.ts';
import type { Keychain } from './token-encryption/keychain.ts';
import type { KeySource } from './token-encryption/secret-key.ts';

interface SecretStoreDeps {
  readonly database: () => Promise<Database>;
  /** Whether the database exists yet; if not, no secret has been stored. */
  readonly isStored: () => boolean;
  readonly key: KeySource;
  /** Undefined without a desktop, and where several machines share the database. */
  readonly keychain: Keychain | undefined;
  /** Identifies this state folder in the keychain, which all gateways of the user share. */
  readonly stateDir: string;
  readonly now: () => number;
  readonly log: Logger;
}

/** Where a secret is stored: in the keychain of the system, or encrypted in the database. */
type SecretPlace = 'keychain' | 'vault';

export interface StoredSecret {
  readonly name: string;
  readonly place: SecretPlace;
  readonly savedAt: number;
}

/** The maximum size of a value in a keychain. Windows and the command line of macOS accept little more. */
const MAX_KEYCHAIN_BYTES = 1000;
const MAX_BYTES = 64 * 1024;

/** The secrets that a person stored under a name, to which `${secret:NAME}` refers. The values are read only for servers; no interface returns them. */
export class SecretStore implements SecretReader {
  readonly #deps: SecretStoreDeps;
  readonly #cipher: JsonCipher;

  constructor(deps: SecretStoreDeps) {
    this.#deps = deps;
    this.#cipher = new JsonCipher(deps);
  }

  async read(name: string): Promise<string | undefined> {
    if (!this.#deps.isStored()) return undefined;
    const { query } = await this.#deps.database();
    const row = await query.selectFrom('secrets').select('body').where('name', '=', name).executeTakeFirst();
    if (row === undefined) return undefined;
    if (row.body === null) return this.#readFromKeychain(name);
    const value = await this.#cipher.decrypt(row.body, ['secret', name]);
    return typeof value === 'string' ? value : undefined;
  }

  /** Stores a value in place of an earlier one. If the keychain is locked or missing, the encrypted database stores it. */
  async write(name: string, value: string): Promise<SecretPlace> {
    if (Buffer.byteLength(value) > MAX_BYTES || value === '')
      throw new GatewayError(
        'USAGE',
        `A secret must have 1 to ${MAX_BYTES} bytes, so "${name}" was not stored.`,
      );
    const isInKeychain = await this.#writeToKeychain(name, value);
    const body = isInKeychain ? null : await this.#cipher.encrypt(value, ['secret', name]);
    const row = { name, body, saved_at: this.#deps.now() };
    const { query } = await this.#deps.database();
    await query
      .insertInto('secrets')
      .values(row)
      .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
      .execute();
    if (!isInKeychain) await this.#removeFromKeychain(name);
    return isInKeychain ? 'keychain' : 'vault';
  }

  async list(): Promise<readonly StoredSecret[]> {
    if (!this.#deps.isStored()) return [];
    const { query } = await this.#deps.database();
    const rows = await query.selectFrom('secrets').selectAll().orderBy('name').execute();
    // Other programs may have written into the database.
    const valid = rows.filter((row) => isSecretReferenceName(row.name) && isTime(row.saved_at));
    return valid.map(({ name, body, saved_at: savedAt }) => ({
      name,
      place: body === null ? 'keychain' : 'vault',
      savedAt,
    }));
  }

  /** Deletes a secret. Resolves with false if it does not exist. */
  async remove(name: string): Promise<boolean> {
    if (!this.#deps.isStored()) return false;
    const { query } = await this.#deps.database();
    const deleted = await query.deleteFrom('secrets').where('name', '=', name).executeTakeFirst();
    if (deleted.numDeletedRows === 0n) return false;
    await this.#removeFromKeychain(name);
    return true;
  }

  async #readFromKeychain(name: string): Promise<string> {
    const text = await this.#deps.keychain?.read(this.#itemName(name)).catch(() => undefined);
    if (text !== undefined) return Buffer.from(text, 'base64').toString('utf8');
    throw new GatewayError(
      'STORE_LOCKED',
      `The secret "${name}" is in the system keychain, which did not return it. Unlock the keychain, or store the value again with: trunkline secret set ${name}`,
      { details: { name } },
    );
  }

  async #writeToKeychain(name: string, value: string): Promise<boolean> {
    const { keychain } = this.#deps;
    if (keychain === undefined || Buffer.byteLength(value) > MAX_KEYCHAIN_BYTES) return false;
    // The value is encoded as Base64, because the keychain programs may change line breaks, quotes and spaces.
    const text = Buffer.from(value).toString('base64');
    const item = this.#itemName(name);
    try {
      await keychain.write(item, text);
      return (await keychain.read(item)) === text;
    } catch {
      return false; // The encrypted database stores the value instead.
    }
  }

  async #removeFromKeychain(name: string): Promise<void> {
    // Best effort: an item that remains is harmless, because nothing refers to it any more.
    await this.#deps.keychain?.remove(this.#itemName(name)).catch(() => {});
  }

  #itemName(name: string): string {
    const owner = createHash('sha256').update(this.#deps.stateDir).digest('hex').slice(0, 16);
    return `secret-${owner}-${name}`;
  }
}

/** Whether a value from the database is a time that a date can have. */
function isTime(value: unknown): boolean {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime());
}
