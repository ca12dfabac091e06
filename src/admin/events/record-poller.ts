import type { AuditRecord } from '../../observability/audit/audit-record.ts';
import type { AdminDeps } from '../admin-deps.ts';

/** Maximum number of records per poll. If more were written, only the newest are reported. */
const MAX_RECORDS = 100;
/** Interval at which the poller looks for records of other processes. */
const OTHER_PROCESSES_INTERVAL_MS = 2000;

/**
 * Reports audit records when they are written. Queries the audit thread only if this process has written a record or the interval has
 * passed.
 */
export class RecordPoller {
  readonly #deps: Pick<AdminDeps, 'audit' | 'config'>;
  readonly #onRecord: (record: AuditRecord) => void;
  /** The number of the last reported record; undefined before the first query. */
  #after: number | undefined;
  /** The number of records that this process had written at the last query. */
  #written = -1;
  #queriedAt = 0;
  #isQuerying = false;

  constructor(deps: Pick<AdminDeps, 'audit' | 'config'>, onRecord: (record: AuditRecord) => void) {
    this.#deps = deps;
    this.#onRecord = onRecord;
  }

  async poll(): Promise<void> {
    const { audit, config } = this.#deps;
    const { written } = audit.health;
    const now = Date.now();
    const isDue = written !== this.#written || now - this.#queriedAt >= OTHER_PROCESSES_INTERVAL_MS;
    if (this.#isQuerying || !isDue || !config().value.audit.enabled) return;
    this.#isQuerying = true;
    this.#written = written;
    this.#queriedAt = now;
    try {
      await this.#query();
    } catch {
      // A failure is ignored, because the status reports problems of the audit log.
    } finally {
      this.#isQuerying = false;
    }
  }

  async #query(): Promise<void> {
    const { audit } = this.#deps;
    // The first query only finds the position, because earlier records are not reported.
    if (this.#after === undefined) {
      const [newest] = await audit.query('records', { limit: 1, order: 'desc' });
      this.#after = newest?.seq ?? 0;
      return;
    }
    const query = { after: this.#after, limit: MAX_RECORDS, order: 'desc' } as const;
    for (const record of (await audit.query('records', query)).toReversed()) {
      this.#after = record.seq;
      this.#onRecord(record);
    }
  }
}
