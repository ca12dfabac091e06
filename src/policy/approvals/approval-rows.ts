import type { Fingerprint, UpstreamName } from '../../model/ids.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Database } from '../../storage/database.ts';
import { APPROVAL_KINDS } from './subject.ts';
import type { ApprovalKind } from './subject.ts';

/** What was said about one definition, when and by whom. */
export interface Approval {
  readonly upstream: UpstreamName;
  readonly kind: ApprovalKind;
  readonly name: string;
  readonly state: 'approved' | 'refused';
  readonly fingerprint: Fingerprint;
  readonly definition: JsonObject;
  readonly at: number;
  readonly by: string;
}

export async function readApprovals(database: Database): Promise<readonly Approval[]> {
  const rows = await database.query.selectFrom('approvals').selectAll().execute();
  return rows.flatMap((row) => {
    const kind = APPROVAL_KINDS.find((each) => each === row.kind);
    const state = STATES.find((each) => each === row.state);
    const definition = parse(row.definition);
    // A row that nobody can read approves nothing.
    if (kind === undefined || state === undefined || !isJsonObject(definition)) return [];
    return [
      {
        upstream: row.upstream as UpstreamName,
        ...{ kind, name: row.name, state, definition },
        fingerprint: row.fingerprint as Fingerprint,
        ...{ at: Number(row.decided_at), by: row.decided_by },
      },
    ];
  });
}

/** In one transaction: first what is forgotten of whole servers, then what is said. */
export async function writeApprovals(
  database: Database,
  change: { readonly forget?: readonly UpstreamName[]; readonly add?: readonly Approval[] },
): Promise<void> {
  await database.query.transaction().execute(async (transaction) => {
    for (const upstream of change.forget ?? [])
      await transaction
        .deleteFrom('approvals')
        .where('upstream', '=', upstream)
        .where('state', '=', 'approved')
        .execute();
    for (const { upstream, kind, name, state, fingerprint, definition, at, by } of change.add ?? []) {
      const said = { fingerprint, definition: JSON.stringify(definition), decided_at: at, decided_by: by };
      await transaction
        .insertInto('approvals')
        .values({ upstream, kind, name, state, ...said })
        .onConflict((conflict) => conflict.columns(['upstream', 'kind', 'name', 'state']).doUpdateSet(said))
        .execute();
      // The same bytes are not approved and refused at once.
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

const STATES = ['approved', 'refused'] as const;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Told by its absence: it approves nothing.
  }
}
