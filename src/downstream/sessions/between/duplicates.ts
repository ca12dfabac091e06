interface Heard {
  readonly by: Map<string, number>;
  /** How many were let through. */
  told: number;
  at: number;
}

/** Gateways notice the same thing within this time. */
const WINDOW_MS = 500;
const MAX_HEARD = 1000;

/**
 * What several gateways notice of one server is said once: the second time that one of them says something is news, the first time of
 * another one is not.
 */
export class Duplicates {
  readonly #heard = new Map<string, Heard>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  isKnown(text: string, from: string): boolean {
    const now = this.#now();
    const known = this.#heard.get(text);
    const heard = known === undefined || known.at <= now - WINDOW_MS ? fresh() : known;
    heard.at = now;
    this.#heard.delete(text);
    this.#heard.set(text, heard);
    const count = (heard.by.get(from) ?? 0) + 1;
    heard.by.set(from, count);
    const [oldest] = this.#heard.keys();
    if (this.#heard.size > MAX_HEARD && oldest !== undefined) this.#heard.delete(oldest);
    if (count <= heard.told) return true;
    heard.told = count;
    return false;
  }
}

function fresh(): Heard {
  return { by: new Map(), told: 0, at: 0 };
}
