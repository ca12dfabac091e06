import { seal, unseal } from '../../../core/lib/seal.ts';
import type { Logger } from '../../../observability/log.ts';
import type { KeySource } from './secret-key.ts';

/** Encrypts and authenticates JSON values with the secret key. */
export class JsonCipher {
  readonly #key: KeySource;
  readonly #log: Logger;

  constructor({ key, log }: { readonly key: KeySource; readonly log: Logger }) {
    this.#key = key;
    this.#log = log;
  }

  /** Encrypts a value. Only the same `context`, which identifies the kind and owner of the value, can decrypt it. */
  async encrypt(value: unknown, context: readonly string[]): Promise<string> {
    return seal(JSON.stringify(value), await this.#key.get(), context);
  }

  /** Decrypts a value. Returns undefined and logs a warning if the value cannot be decrypted. */
  async decrypt(text: string, context: readonly string[]): Promise<unknown> {
    const decrypted = unseal(text, await this.#key.get(), context);
    if (decrypted !== undefined) return JSON.parse(decrypted);
    this.#log.warn('A saved sign-in or secret cannot be decrypted and is ignored.', {
      about: context.slice(0, 2),
    });
    return undefined;
  }
}
