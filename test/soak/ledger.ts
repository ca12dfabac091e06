/** One request, from its beginning to its only end. */
export interface Asked {
  readonly tag: string;
  readonly client: string;
  readonly what: string;
  /** The server that is asked; undefined where the gateway answers by itself. */
  readonly server: string | undefined;
  readonly sentAt: number;
}

/** What was asked, how it ended, and everything that must not have happened. */
export class Ledger {
  readonly outcomes = new Map<string, number>();
  readonly kinds = new Map<string, number>();
  readonly faults = new Map<string, number>();
  /** By the name of the client, what was answered as it should be. */
  readonly served = new Map<string, number>();
  readonly violations: string[] = [];
  readonly onViolation: (text: string) => void;
  readonly #open = new Map<string, Asked>();
  /** Tags that were answered well and were not yet looked for in the logs of the servers. */
  readonly #toProve = new Map<string, Asked>();
  readonly #executed = new Set<string>();
  #asked = 0;

  constructor(onViolation: (text: string) => void) {
    this.onViolation = onViolation;
  }

  get asked(): number {
    return this.#asked;
  }

  get executed(): number {
    return this.#executed.size;
  }

  get open(): readonly Asked[] {
    return [...this.#open.values()];
  }

  begin(client: string, what: string, server?: string): Asked {
    this.#asked += 1;
    count(this.kinds, what);
    const asked = { tag: `${client}.${this.#asked}`, client, what, server, sentAt: performance.now() };
    this.#open.set(asked.tag, asked);
    return asked;
  }

  /** `provable`: it was answered with what only the server can have said. */
  end(asked: Asked, outcome: string, provable = false): void {
    if (!this.#open.delete(asked.tag)) this.violate(`${asked.tag} (${asked.what}) ended twice`);
    count(this.outcomes, outcome);
    if (outcome === 'ok') count(this.served, asked.client);
    if (provable) this.#toProve.set(asked.tag, asked);
  }

  /** A server says that it did what a call asked for. */
  executes(tag: string, server: string): void {
    if (this.#executed.has(tag)) this.violate(`${tag} was executed twice, now by ${server}`);
    this.#executed.add(tag);
  }

  /** Every answer must come from work that was done; called when all logs were read. */
  prove(): void {
    for (const [tag, { what, server }] of this.#toProve) {
      if (!this.#executed.has(tag))
        this.violate(`${tag} (${what} of ${server}) was answered, but no server did it`);
    }
    this.#toProve.clear();
  }

  violate(text: string): void {
    this.violations.push(text);
    this.onViolation(text);
  }
}

export function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
