import { seal, unseal } from '../../../lib/sealed.ts';
import type { Logger } from '../../../observe/log.ts';
import type { KeySource } from './secret-key.ts';

/** Values of ours as texts that nobody can read or change without the key. */
export class SealedJson {
  readonly #key: KeySource;
  readonly #log: Logger;

  constructor({ key, log }: { readonly key: KeySource; readonly log: Logger }) {
    this.#key = key;
    this.#log = log;
  }

  /** `about` says what it is and whose; it opens as nothing else. */
  async seal(value: unknown, about: readonly string[]): Promise<string> {
    return seal(JSON.stringify(value), await this.#key.get(), about);
  }

  /** What cannot be opened counts as absent, which is told. */
  async open(text: string, about: readonly string[]): Promise<unknown> {
    const opened = unseal(text, await this.#key.get(), about);
    if (opened !== undefined) return JSON.parse(opened);
    this.#log.warn('A saved sign-in cannot be decrypted and is not used.', { about: about.slice(0, 2) });
    return undefined;
  }
}
