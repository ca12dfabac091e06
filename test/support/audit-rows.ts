import { existsSync } from 'node:fs';
import { join } from 'node:path';

import Libsql from 'libsql';

import type { AuditRow } from '../../src/observability/audit/audit-row.ts';
import { eventually } from './eventually.ts';

export function databasePath(home: string): string {
  return join(home, 'state', 'trunkline.db');
}

/** Returns the audit rows in the database of this home. */
export function readAuditRows(home: string): readonly AuditRow[] {
  if (!existsSync(databasePath(home))) return [];
  const database = new Libsql(databasePath(home), { readonly: true });
  try {
    // `AuditRow` has the columns of the table.
    return database.prepare('select * from audit order by seq').all() as AuditRow[];
  } finally {
    database.close();
  }
}

/** Waits until there are at least `count` rows, and returns all. */
export function waitForAuditRows(home: string, count: number): Promise<readonly AuditRow[]> {
  return eventually(
    () => {
      const rows = readAuditRows(home);
      return rows.length >= count && rows;
    },
    { what: `${count} records` },
  );
}
