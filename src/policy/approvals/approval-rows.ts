import type { Fingerprint, UpstreamName } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Database } from '../../core/storage/database.ts';
import { APPROVAL_KINDS } from './approval-subject.ts';
import type { ApprovalKind } from './approval-subject.ts';

/** A decision about one definition, with its time and author. */
export interface Approval {
  readonly upstream: UpstreamName;
  readonly kind: ApprovalKind;
  readonly name: string;
  readonly state: 'approved' | 'refused';
  readonly fingerprint: Fingerprint;
  readonly definition: JsonObject;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly by: string;
}

export interface ApprovalChange {
  /** Upstreams whose approvals are removed before `add` is written. */
  readonly forget?: readonly UpstreamName[];
  readonly add?: readonly Approval[];
}

/** Reads all decisions. A row that cannot be understood is skipped, so that it approves nothing. */
export async function readApprovals(database: Database): Promise<readonly Approval[]> {
  const rows = await database.query.selectFrom('approvals').selectAll().execute();
  return rows.flatMap((row) => {
    const kind = APPROVAL_KINDS.find((known) => known === row.kind);
    const state = STATES.find((known) => known === row.state);
    const definition = parseDefinition(row.definition);
    if (kind === undefined || state === undefined || !isJsonObject(definition)) return [];
    return [
      {
        upstream: row.upstream as UpstreamName,
        kind,
        name: row.name,
        state,
        fingerprint: row.fingerprint as Fingerprint,
        definition,
        at: Number(row.decided_at),
        by: row.decided_by,
      },
    ];
  });
}

const STATES = ['approved', 'refused'] as const;

/** Maximum nesting of a definition, because code that compares and shows definitions is recursive. No gateway writes deeper ones. */
const MAX_DEPTH = 1000;

function parseDefinition(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    // Each level takes at least two characters, so a shorter text cannot be nested too deeply.
    return text.length > 2 * MAX_DEPTH && isNestedTooDeeply(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

function isNestedTooDeeply(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    level = level.flatMap((item): readonly unknown[] =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}

/** Applies the change in one transaction and announces it to other processes. */
export async function writeApprovals(
  database: Database,
  { forget = [], add = [] }: ApprovalChange,
): Promise<void> {
  await database.query.transaction().execute(async (transaction) => {
    for (const upstream of forget)
      await transaction
        .deleteFrom('approvals')
        .where('upstream', '=', upstream)
        .where('state', '=', 'approved')
        .execute();
    for (const { upstream, kind, name, state, fingerprint, definition, at, by } of add) {
      const decision = {
        fingerprint,
        definition: JSON.stringify(definition),
        decided_at: at,
        decided_by: by,
      };
      await transaction
        .insertInto('approvals')
        .values({ upstream, kind, name, state, ...decision })
        .onConflict((conflict) =>
          conflict.columns(['upstream', 'kind', 'name', 'state']).doUpdateSet(decision),
        )
        .execute();
      // The same definition cannot be approved and refused at the same time.
      await transaction
        .deleteFrom('approvals')
        .where('upstream', '=', upstream)
        .where('kind', '=', kind)
        .where('name', '=', name)
        .where('state', '!=', state)
        .where('fingerprint', '=', fingerprint)
        .execute();
    }
    await database.changes.announce(transaction, 'approvals');
  });
}
