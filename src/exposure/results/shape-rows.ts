import type { Kysely, Transaction } from 'kysely';

import type { ToolEntry } from '../../core/entry.ts';
import type { Fingerprint, UpstreamName } from '../../core/ids.ts';
import type { Database } from '../../core/storage/database.ts';
import type { Tables } from '../../core/storage/tables.ts';
import { isShape } from './json-shape.ts';
import type { JsonShape } from './json-shape.ts';

/** The shape of the results of a tool with this definition. */
export interface ShapeRow {
  readonly upstream: UpstreamName;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly fingerprint: Fingerprint;
  readonly shape: JsonShape;
}

interface SaveOptions<Row> {
  /** Returns the shape to store, given the stored one of the same definition. */
  readonly merge: (row: Row, stored: JsonShape | undefined) => JsonShape | undefined;
  readonly now: number;
}

/** The number of tools in the database; those that were written first are removed. A row has at most about 4 kB. */
const MAX_ROWS = 5_000;

/** Reads the shapes of these tools, and others of their servers that have the same names. */
export async function readShapes(
  { query }: Database,
  entries: readonly ToolEntry[],
): Promise<readonly ShapeRow[]> {
  return select(
    query,
    entries.map(({ upstream, definition }) => ({ upstream, tool: definition.name })),
  );
}

/** Stores shapes, each merged with that of other gateways. Writes only what differs. */
export async function saveShapes<Row extends Omit<ShapeRow, 'shape'>>(
  database: Database,
  rows: readonly Row[],
  { merge, now }: SaveOptions<Row>,
): Promise<void> {
  await database.query.transaction().execute(async (transaction) => {
    const stored = await select(transaction, rows);
    for (const row of rows) {
      const { upstream, tool, fingerprint } = row;
      const before = stored.find(
        (other) => other.upstream === upstream && other.tool === tool && other.fingerprint === fingerprint,
      )?.shape;
      const shape = merge(row, before);
      const body = JSON.stringify(shape);
      if (shape === undefined || body === JSON.stringify(before)) continue;
      await transaction
        .insertInto('result_shapes')
        .values({ upstream, tool, fingerprint, body, saved_at: now })
        .onConflict((conflict) =>
          conflict.columns(['upstream', 'tool']).doUpdateSet({ fingerprint, body, saved_at: now }),
        )
        .execute();
    }
    await removeSurplus(transaction);
  });
}

export async function deleteShapes({ query }: Database, servers: readonly UpstreamName[]): Promise<void> {
  await query.deleteFrom('result_shapes').where('upstream', 'in', servers).execute();
}

async function select(
  query: Kysely<Tables>,
  tools: readonly Pick<ShapeRow, 'upstream' | 'tool'>[],
): Promise<readonly ShapeRow[]> {
  const names = <T>(values: readonly T[]): readonly T[] => [...new Set(values)];
  const rows = await query
    .selectFrom('result_shapes')
    .select(['upstream', 'tool', 'fingerprint', 'body'])
    .where('upstream', 'in', names(tools.map(({ upstream }) => upstream)))
    .where('tool', 'in', names(tools.map(({ tool }) => tool)))
    .execute();
  return rows.flatMap(({ upstream, tool, fingerprint, body }) => {
    const shape = parse(body);
    // The casts are safe, because callers compare the names and the fingerprint with those of a tool.
    return isShape(shape)
      ? [{ upstream: upstream as UpstreamName, tool, fingerprint: fingerprint as Fingerprint, shape }]
      : [];
  });
}

async function removeSurplus(transaction: Transaction<Tables>): Promise<void> {
  const surplus = await transaction
    .selectFrom('result_shapes')
    .select('saved_at')
    .orderBy('saved_at', 'desc')
    .offset(MAX_ROWS)
    .limit(1)
    .executeTakeFirst();
  if (surplus !== undefined)
    await transaction.deleteFrom('result_shapes').where('saved_at', '<=', surplus.saved_at).execute();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // A damaged row is replaced by the next result.
  }
}
