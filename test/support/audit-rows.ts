import { existsSync } from 'node:fs';
import { join } from 'node:path';

import Libsql from 'libsql';

import type { AuditRow } from '../../src/observability/audit/audit-row.ts';
import { eventually } from './eventually.ts';

export function databasePath(home: string): string {
  return join(home, 'state', 'trunkline.db');
}

/** What a gateway with this home has recorded, as it lies in the database. */
export function readAuditRows(home: string): readonly AuditRow[] {
  if (!existsSync(databasePath(home))) return [];
  const database = new Libsql(databasePath(home), { readonly: true });
  try {
    // The columns are those of the table.
    return database.prepare('select * from audit order by seq').all() as AuditRow[];
  } finally {
    database.close();
  }
}

/** Waits for that many records, and gives them. */
export function waitForAuditRows(home: string, count: number): Promise<readonly AuditRow[]> {
  return eventually(
    () => {
      const rows = readAuditRows(home);
      return rows.length >= count && rows;
    },
    { what: `${count} records` },
  );
}
