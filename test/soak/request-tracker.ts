/** A request of a client, which must end exactly once. */
export interface TrackedRequest {
  readonly tag: string;
  readonly client: string;
  readonly what: string;
  /** The called server; undefined if the gateway answers by itself. */
  readonly server: string | undefined;
  readonly sentAt: number;
}

/** Tracks all requests, their outcomes and all violations. */
export class RequestTracker {
  readonly outcomes = new Map<string, number>();
  readonly kinds = new Map<string, number>();
  readonly faults = new Map<string, number>();
  /** Number of successful answers by client name. */
  readonly served = new Map<string, number>();
  readonly violations: string[] = [];
  readonly onViolation: (text: string) => void;
  readonly #open = new Map<string, TrackedRequest>();
  /** Successfully answered requests that have not been looked up in the logs of the servers yet. */
  readonly #unproven = new Map<string, TrackedRequest>();
  readonly #executed = new Set<string>();
  #requestCount = 0;

  constructor(onViolation: (text: string) => void) {
    this.onViolation = onViolation;
  }

  get requestCount(): number {
    return this.#requestCount;
  }

  get executed(): number {
    return this.#executed.size;
  }

  get open(): readonly TrackedRequest[] {
    return [...this.#open.values()];
  }

  begin(client: string, what: string, server?: string): TrackedRequest {
    this.#requestCount += 1;
    count(this.kinds, what);
    const request = {
      tag: `${client}.${this.#requestCount}`,
      client,
      what,
      server,
      sentAt: performance.now(),
    };
    this.#open.set(request.tag, request);
    return request;
  }

  /** Ends a request. `provable` means that only the server can have created the answer. */
  end(request: TrackedRequest, outcome: string, provable = false): void {
    if (!this.#open.delete(request.tag)) this.violate(`${request.tag} (${request.what}) ended twice`);
    count(this.outcomes, outcome);
    if (outcome === 'ok') count(this.served, request.client);
    if (provable) this.#unproven.set(request.tag, request);
  }

  /** Records that a server executed a call. */
  executes(tag: string, server: string): void {
    if (this.#executed.has(tag)) this.violate(`${tag} was executed twice, now by ${server}`);
    this.#executed.add(tag);
  }

  /** Checks that every answered call was executed. Call it after all logs have been read. */
  prove(): void {
    for (const [tag, { what, server }] of this.#unproven) {
      if (!this.#executed.has(tag))
        this.violate(`${tag} (${what} of ${server}) was answered, but no server executed it`);
    }
    this.#unproven.clear();
  }

  violate(text: string): void {
    this.violations.push(text);
    this.onViolation(text);
  }
}

export function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
