import type { Database } from '../../core/storage/database.ts';
import type { AuditQueries } from './audit-messages.ts';
import { COMMON_FIELDS } from './audit-row.ts';
import { AuditWriter } from './audit-writer.ts';
import type { CommonFields, RecordDraft } from './record-batch.ts';
import { runAuditQuery } from './run-audit-query.ts';

export type FlatRecordDraft = Partial<Omit<RecordDraft, 'common'> & CommonFields>;

/** Builds a record draft from a flat list of fields, with defaults. */
export function recordDraft(flat: FlatRecordDraft): RecordDraft {
  const commonNames = new Set<string>(COMMON_FIELDS);
  const entries = Object.entries(flat);
  const common = {
    kind: 'tool',
    caller: 'me',
    via: 'cli',
    profile: 'default',
    outcome: 'ok',
    server: 's',
    ...Object.fromEntries(entries.filter(([field]) => commonNames.has(field))),
  };
  const own = Object.fromEntries(entries.filter(([field]) => !commonNames.has(field)));
  // The compiler does not know which fields the two lists have.
  return { request: 'r', at: 0, ms: 5, ...own, common } as RecordDraft;
}

/** Writes to and reads from a database as the audit thread does. */
export class TestAuditLog extends AuditWriter {
  readonly #database: Database;

  constructor(deps: ConstructorParameters<typeof AuditWriter>[0]) {
    super(deps);
    this.#database = deps.database;
  }

  query<Q extends keyof AuditQueries>(
    name: Q,
    params: AuditQueries[Q]['params'],
  ): Promise<AuditQueries[Q]['result']> {
    return runAuditQuery(this.#database, name, params);
  }
}
