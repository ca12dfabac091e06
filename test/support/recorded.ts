import { existsSync } from 'node:fs';
import { join } from 'node:path';

import Libsql from 'libsql';

import type { AuditRow } from '../../src/observability/audit/audit-row.ts';
import { eventually } from './eventually.ts';

export function databaseOf(home: string): string {
  return join(home, 'state', 'trunkline.db');
}

/** What a gateway with this home has recorded, as it lies in the database. */
export function recordedIn(home: string): readonly AuditRow[] {
  if (!existsSync(databaseOf(home))) return [];
  const database = new Libsql(databaseOf(home), { readonly: true });
  try {
    // The columns are those of the table.
    return database.prepare('select * from audit order by seq').all() as AuditRow[];
  } finally {
    database.close();
  }
}

/** Waits for that many records, and gives them. */
export function recorded(home: string, count: number): Promise<readonly AuditRow[]> {
  return eventually(
    () => {
      const rows = recordedIn(home);
      return rows.length >= count && rows;
    },
    { what: `${count} records` },
  );
}
