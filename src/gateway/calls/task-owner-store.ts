import { createHash } from 'node:crypto';

import type { UpstreamName } from '../../core/ids.ts';
import type { Database } from '../../core/storage/database.ts';

/** The caller that started a task at a server. */
export interface TaskOwner {
  /** The task's id as `hashTaskId` returns it. */
  readonly task: string;
  readonly upstream: UpstreamName;
  /** The caller, as `callerKey` returns it. */
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

interface TaskOwnerStoreOptions {
  readonly database: () => Promise<Database>;
  readonly now: () => number;
  /** Maximum number of tasks per caller. The tasks that expire first are removed. */
  readonly maxPerOwner?: number;
}

const MAX_PER_OWNER = 20_000;
/** Interval in milliseconds at which one of the processes that share the database removes expired rows. */
const CLEAN_EVERY_MS = 600_000;

/**
 * Returns a hash of a task id. Its length is fixed, whereas servers choose ids of any length. The id is hashed as UTF-16, because in
 * UTF-8, ids that differ only in lone surrogates would be equal.
 */
export function hashTaskId(id: string): string {
  return createHash('sha256').update(id, 'utf16le').digest('base64url');
}

/** Stores the owners of tasks in the database, where other gateways and the next start of this gateway find them. */
export class TaskOwnerStore {
  readonly #options: TaskOwnerStoreOptions;
  #cleanedAt = -Infinity;

  constructor(options: TaskOwnerStoreOptions) {
    this.#options = options;
  }

  /** Saves an owner. If the server uses an id again, the new task's owner replaces the earlier one. */
  async save({ task, upstream, owner, expiresAt }: TaskOwner): Promise<void> {
    const database = await this.#options.database();
    await this.#clean(database);
    await database.query
      .insertInto('task_owners')
      .values({ task, upstream, owner, expires_at: expiresAt })
      .onConflict((conflict) =>
        conflict.columns(['task', 'upstream']).doUpdateSet({ owner, expires_at: expiresAt }),
      )
      .execute();
  }

  /** Returns the owners of these tasks at all servers. */
  async find(tasks: readonly string[]): Promise<readonly Omit<TaskOwner, 'expiresAt'>[]> {
    const { query } = await this.#options.database();
    const rows = await query
      .selectFrom('task_owners')
      .select(['task', 'upstream', 'owner'])
      .where('task', 'in', tasks)
      .where('expires_at', '>', this.#options.now())
      .execute();
    // The cast is safe because `save` writes only names of servers.
    return rows.map((row) => ({ ...row, upstream: row.upstream as UpstreamName }));
  }

  async #clean(database: Database): Promise<void> {
    const { now, maxPerOwner = MAX_PER_OWNER } = this.#options;
    if (now() - this.#cleanedAt < CLEAN_EVERY_MS) return;
    this.#cleanedAt = now();
    const { claimChore } = await import('../../core/storage/chore.ts');
    if (!(await claimChore(database, { name: 'task-owners', everyMs: CLEAN_EVERY_MS, now: now() }))) return;
    const { query } = database;
    await query.deleteFrom('task_owners').where('expires_at', '<=', now()).execute();
    const owners = await query
      .selectFrom('task_owners')
      .select('owner')
      .groupBy('owner')
      .having(({ fn }) => fn.countAll(), '>', maxPerOwner)
      .execute();
    for (const { owner } of owners) {
      // The surplus task that expires last. It is deleted together with all tasks that expire no later.
      const lastSurplus = await query
        .selectFrom('task_owners')
        .select('expires_at')
        .where('owner', '=', owner)
        .orderBy('expires_at', 'desc')
        .offset(maxPerOwner)
        .limit(1)
        .executeTakeFirst();
      if (lastSurplus === undefined) continue;
      await query
        .deleteFrom('task_owners')
        .where('owner', '=', owner)
        .where('expires_at', '<=', lastSurplus.expires_at)
        .execute();
    }
  }
}
