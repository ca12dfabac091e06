import type { AuditRecord } from '../../observe/audit/audit-record.ts';
import type { AdminDeps } from '../deps.ts';

/** More than that at once nobody reads; the newest are told. */
const MAX_AT_ONCE = 100;
/** How often it is looked for what other processes have recorded. */
const OTHERS_EVERY_MS = 2000;

/** Tells of records as they are written. The thread that has them is asked when there is something new. */
export class RecordWatch {
  readonly #deps: Pick<AdminDeps, 'audit' | 'config'>;
  readonly #tell: (record: AuditRecord) => void;
  #after: number | undefined;
  #written = -1;
  #askedAt = 0;
  #isAsking = false;

  constructor(deps: Pick<AdminDeps, 'audit' | 'config'>, tell: (record: AuditRecord) => void) {
    this.#deps = deps;
    this.#tell = tell;
  }

  async look(): Promise<void> {
    const { audit, config } = this.#deps;
    const { written } = audit.health;
    const now = Date.now();
    const isDue = written !== this.#written || now - this.#askedAt >= OTHERS_EVERY_MS;
    if (this.#isAsking || !isDue || !config().value.audit.enabled) return;
    this.#isAsking = true;
    this.#written = written;
    this.#askedAt = now;
    try {
      await this.#ask();
    } catch {
      // Best effort: the status says what is wrong with the record.
    } finally {
      this.#isAsking = false;
    }
  }

  async #ask(): Promise<void> {
    const { audit } = this.#deps;
    if (this.#after === undefined) {
      const [newest] = await audit.ask('query', { limit: 1, order: 'desc' });
      this.#after = newest?.seq ?? 0;
      return;
    }
    const query = { after: this.#after, limit: MAX_AT_ONCE, order: 'desc' } as const;
    for (const record of (await audit.ask('query', query)).toReversed()) {
      this.#after = record.seq;
      this.#tell(record);
    }
  }
}
