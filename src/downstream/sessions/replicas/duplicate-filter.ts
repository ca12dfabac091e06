interface KnownNotification {
  /** Number of times that each replica has sent the message. */
  readonly counts: Map<string, number>;
  /** Number of times that the message was delivered. */
  delivered: number;
  receivedAt: number;
}

/** The time within which all replicas are expected to notice the same change. */
const WINDOW_MS = 500;
const MAX_KNOWN = 1000;

/**
 * Detects that several replicas report the same change of one server. The nth notification of one replica is a duplicate if the same
 * text has already been delivered n times; a replica that sends a text again therefore reports a new change.
 */
export class DuplicateFilter {
  readonly #known = new Map<string, KnownNotification>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  isDuplicate(text: string, replica: string): boolean {
    const now = this.#now();
    const found = this.#known.get(text);
    const known: KnownNotification =
      found === undefined || found.receivedAt <= now - WINDOW_MS
        ? { counts: new Map(), delivered: 0, receivedAt: now }
        : found;
    known.receivedAt = now;
    // Moves the text to the end of the map, so that the first key is the oldest.
    this.#known.delete(text);
    this.#known.set(text, known);
    const count = (known.counts.get(replica) ?? 0) + 1;
    known.counts.set(replica, count);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    if (count <= known.delivered) return true;
    known.delivered = count;
    return false;
  }
}
