import { startTimeout } from '../../core/lib/start-timeout.ts';
import type { AdminClient } from '../../admin/admin-client.ts';
import type { AdminApprovals } from '../../admin/contract/contract.ts';
import type { GatewaySnapshot } from './tray-state.ts';

/** The connection to a gateway that is running, or was running when its record was read. */
export interface MonitoredGateway {
  readonly client: AdminClient;
  /** Yields once per change event. Ends when the gateway stops. */
  readonly changes: (signal: AbortSignal) => AsyncIterable<unknown>;
}

/** Returns the gateway that runs now: the same object as long as it is the same gateway, undefined if none runs. */
export type GatewayConnector = () => Promise<MonitoredGateway | undefined>;

export interface GatewayMonitorOptions {
  readonly connect: GatewayConnector;
  readonly onSnapshot: (snapshot: GatewaySnapshot | undefined) => void;
  readonly now: () => number;
  readonly pollIntervalMs: number;
  readonly signal: AbortSignal;
}

const REQUEST_TIMEOUT_MS = 10_000;
/** Events within this time cause a single poll. A busy gateway sends many events, and users do not read faster than this. */
const EVENT_DEBOUNCE_MS = 300;
/** While an event stream is open, the poll interval is longer by this factor, because polls only find changes without an event. */
const SLOW_POLL_FACTOR = 5;
const NO_APPROVALS: GatewaySnapshot['approvals'] = { held: [], calls: [] };

/** Reports the state of the gateway: after each change event and at regular intervals, because not every change has an event. */
export class GatewayMonitor {
  readonly #options: GatewayMonitorOptions;
  /** Ends the current sleep. Does nothing while a poll runs. */
  #wake: () => void = () => {};
  /** Whether a poll was requested after the current poll began. The next poll then follows without a pause. */
  #isPollRequested = false;
  /** Runs while events are collected for a single poll. */
  #eventTimer: NodeJS.Timeout | undefined;
  /** The gateway whose events are being read. Undefined if the event stream has ended. */
  #subscribedGateway: MonitoredGateway | undefined;
  #totalsCache: { readonly key: string; readonly today: GatewaySnapshot['today'] } | undefined;

  constructor(options: GatewayMonitorOptions) {
    this.#options = options;
  }

  /** Runs until the signal is aborted. */
  async run(): Promise<void> {
    const { signal, onSnapshot, pollIntervalMs } = this.#options;
    const wake = (): void => this.requestPoll();
    signal.addEventListener('abort', wake);
    while (!signal.aborted) {
      this.#isPollRequested = false;
      const snapshot = await this.#readSnapshot();
      // The signal may have been aborted during the request.
      if (!signal.aborted) onSnapshot(snapshot);
      await this.#sleep(
        this.#subscribedGateway === undefined ? pollIntervalMs : pollIntervalMs * SLOW_POLL_FACTOR,
      );
    }
    signal.removeEventListener('abort', wake);
    clearTimeout(this.#eventTimer);
  }

  /** Polls now instead of at the next interval, because something may have changed. */
  requestPoll(): void {
    this.#isPollRequested = true;
    this.#wake();
  }

  async #readSnapshot(): Promise<GatewaySnapshot | undefined> {
    using timeout = startTimeout(REQUEST_TIMEOUT_MS, this.#options.signal);
    const { signal } = timeout;
    try {
      const gateway = await this.#options.connect();
      if (gateway === undefined) return undefined;
      const { client } = gateway;
      const status = await client.request('GET /api/status', {}, { signal });
      // Subscribes only after a successful request, so that a stopped gateway causes no endless reconnects.
      if (this.#subscribedGateway !== gateway) void this.#subscribe(gateway);
      const { servers, entries, calls } = status.held;
      const approvals = servers + entries + calls === 0 ? NO_APPROVALS : await readApprovals(client, signal);
      const today = status.audit && (await this.#readTotals(client, status.audit.written, signal));
      return { status, approvals, today };
    } catch {
      return undefined; // A gateway that does not answer counts as stopped until a later poll succeeds.
    }
  }

  async #subscribe(gateway: MonitoredGateway): Promise<void> {
    this.#subscribedGateway = gateway;
    const { signal } = this.#options;
    try {
      for await (const _ of gateway.changes(signal)) {
        if (this.#subscribedGateway !== gateway) return;
        this.#eventTimer ??= setTimeout(() => {
          this.#eventTimer = undefined;
          this.requestPoll();
        }, EVENT_DEBOUNCE_MS);
      }
    } catch {
      // The connection is lost. The next poll shows whether the gateway has stopped.
    }
    if (this.#subscribedGateway !== gateway) return;
    this.#subscribedGateway = undefined;
    if (!signal.aborted) this.requestPoll();
  }

  /** Requests the numbers of today only if a record was written since the last request or a new day has begun. */
  async #readTotals(
    client: AdminClient,
    written: number,
    signal: AbortSignal,
  ): Promise<GatewaySnapshot['today']> {
    const since = new Date(this.#options.now()).setHours(0, 0, 0, 0);
    const key = `${since} ${written}`;
    if (this.#totalsCache?.key === key) return this.#totalsCache.today;
    const count = async (filter: object): Promise<number> =>
      (await client.request('GET /api/audit/totals', { since, kind: 'tool', ...filter }, { signal })).records;
    try {
      const [calls, errors] = await Promise.all([count({}), count({ errors: true })]);
      this.#totalsCache = { key, today: { calls, errors } };
    } catch {
      return undefined; // The menu omits the numbers.
    }
    return this.#totalsCache.today;
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#isPollRequested || this.#options.signal.aborted) return;
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

/** Returns empty lists if the request fails. The counts in the status still show that something is held. */
async function readApprovals(
  client: AdminClient,
  signal: AbortSignal,
): Promise<Pick<AdminApprovals, 'held' | 'calls'>> {
  return client.request('GET /api/approvals', {}, { signal }).catch(() => NO_APPROVALS);
}
