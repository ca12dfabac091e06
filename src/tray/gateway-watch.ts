import type { AdminClient } from '../admin/client.ts';
import type { AdminApprovals } from '../admin/contract/contract.ts';
import type { GatewayFacts } from './state.ts';

/** A gateway that is there, or was a moment ago. */
export interface Reached {
  readonly client: AdminClient;
  /** Something for each change; ends when the gateway does. */
  readonly changes: (signal: AbortSignal) => AsyncIterable<unknown>;
}

/** The gateway that runs now: the same object while it is the same one, undefined while there is none. */
export type Connect = () => Promise<Reached | undefined>;

export interface WatchOptions {
  readonly connect: Connect;
  readonly onFacts: (facts: GatewayFacts | undefined) => void;
  readonly now: () => number;
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

const ANSWER_WITHIN_MS = 10_000;
/** A busy gateway changes all the time; people do not read faster than this. */
const GATHER_MS = 300;
const NOTHING: GatewayFacts['approvals'] = { held: [], calls: [] };

/**
 * Knows how the gateway is: asks when something has changed, and again and again, since not everything is told. One that goes
 * away is looked for until there is one.
 */
export class GatewayWatch {
  readonly #options: WatchOptions;
  #wake: () => void = () => {};
  #isWanted = false;
  #soon: NodeJS.Timeout | undefined;
  #followed: Reached | undefined;
  #counted: { readonly key: string; readonly today: GatewayFacts['today'] } | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Ends with the signal. */
  async run(): Promise<void> {
    const { signal, onFacts, everyMs } = this.#options;
    const wake = (): void => this.look();
    signal.addEventListener('abort', wake);
    while (!signal.aborted) {
      this.#isWanted = false;
      const facts = await this.#facts();
      // What was asked before the end may come after it.
      if (!signal.aborted) onFacts(facts);
      // Who is told of changes needs to ask only for what is never told.
      await this.#rest(this.#followed === undefined ? everyMs : everyMs * 5);
    }
    signal.removeEventListener('abort', wake);
    clearTimeout(this.#soon);
  }

  /** Something has changed, or may have. */
  look(): void {
    this.#isWanted = true;
    this.#wake();
  }

  async #facts(): Promise<GatewayFacts | undefined> {
    const within = AbortSignal.any([this.#options.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
    try {
      const reached = await this.#options.connect();
      if (reached === undefined) return undefined;
      const { client } = reached;
      const status = await client.ask('GET /api/status', {}, { signal: within });
      if (this.#followed !== reached) void this.#follow(reached);
      const { servers, entries, calls } = status.held;
      const approvals =
        servers + entries + calls === 0 ? NOTHING : await approvalsOf(client, { signal: within });
      const today = status.audit && (await this.#today(client, status.audit.written, within));
      return { status, approvals, ...(today !== undefined && { today }) };
    } catch {
      return undefined; // A gateway that does not answer is none; the next look tells.
    }
  }

  async #follow(reached: Reached): Promise<void> {
    this.#followed = reached;
    const { signal } = this.#options;
    try {
      for await (const _ of reached.changes(signal)) {
        if (this.#followed !== reached) return;
        this.#soon ??= setTimeout(() => {
          this.#soon = undefined;
          this.look();
        }, GATHER_MS);
      }
    } catch {
      // It has gone away, which the next look finds out.
    }
    if (this.#followed !== reached) return;
    this.#followed = undefined;
    if (!signal.aborted) this.look();
  }

  /** Counted anew only when something was recorded, or when a day begins. */
  async #today(client: AdminClient, written: number, signal: AbortSignal): Promise<GatewayFacts['today']> {
    const since = new Date(this.#options.now()).setHours(0, 0, 0, 0);
    const key = `${since} ${written}`;
    if (this.#counted?.key === key) return this.#counted.today;
    const count = async (filter: object): Promise<number> =>
      (await client.ask('GET /api/audit/totals', { since, kind: 'tool', ...filter }, { signal })).records;
    try {
      const [calls, errors] = await Promise.all([count({}), count({ errors: true })]);
      this.#counted = { key, today: { calls, errors } };
    } catch {
      return undefined; // Numbers are left out where they cannot be had.
    }
    return this.#counted.today;
  }

  async #rest(ms: number): Promise<void> {
    if (this.#isWanted || this.#options.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }
}

/** Where only the details are missing, the numbers of the status still say that something waits. */
async function approvalsOf(
  client: AdminClient,
  options: { readonly signal: AbortSignal },
): Promise<Pick<AdminApprovals, 'held' | 'calls'>> {
  return client.ask('GET /api/approvals', {}, options).catch(() => NOTHING);
}
