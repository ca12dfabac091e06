import type { UpstreamName } from '../../core/ids.ts';
import type { Database } from '../../core/storage/database.ts';
import type { Logger } from '../../observability/log.ts';
import type { ApprovalIndex } from './approval-index.ts';
import { writeApprovals } from './approval-rows.ts';
import type { Approval, ApprovalChange } from './approval-rows.ts';

/** Automatic approvals of one server. */
interface ServerChange {
  /** Whether earlier approvals of the server are removed first. */
  readonly forget: boolean;
  readonly add: readonly Approval[];
}

interface ApprovalWriterDeps {
  readonly database: () => Promise<Database>;
  readonly log: Logger;
}

/**
 * Writes approvals to the database, one change after the other. Automatic approvals that the database rejects stay in memory
 * and are retried, because the listing that led to them is not assessed again.
 */
export class ApprovalWriter {
  readonly #deps: ApprovalWriterDeps;
  /** Automatic approvals that have not been stored yet, whether they are queued or were rejected. */
  readonly #unwritten = new Map<UpstreamName, ServerChange>();
  #lastWrite: Promise<void> = Promise.resolve();
  /** Whether the last attempt to store automatic approvals failed. */
  #isFailing = false;
  #revision = 0;

  constructor(deps: ApprovalWriterDeps) {
    this.#deps = deps;
  }

  /** Grows with every attempt to write, so that a reader can detect writes during its read. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether changes wait in memory because the database rejected them. */
  get hasUnwritten(): boolean {
    return this.#isFailing;
  }

  /** Stores a change after all earlier ones. Rejects if that fails; the change is not retried. */
  write(change: ApprovalChange): Promise<void> {
    for (const upstream of change.forget ?? []) this.#unwritten.delete(upstream);
    return this.#enqueueWrite(() => this.#store(change));
  }

  /** Stores automatic approvals of a server in the background. If the database rejects them, they are retried later. */
  enqueue(upstream: UpstreamName, change: ServerChange): void {
    this.#unwritten.set(upstream, mergeChanges(this.#unwritten.get(upstream), change));
    // A failure is logged by #storeUnwritten and retried later.
    this.#enqueueWrite(async () => {}).catch(() => {});
  }

  /** Retries the changes in memory; never rejects. */
  async retry(): Promise<void> {
    await this.#lastWrite;
    if (this.#unwritten.size > 0) await this.#enqueueWrite(async () => {}).catch(() => {});
  }

  /** Adds the changes in memory to an index that was read from the database. */
  applyUnwrittenTo(index: ApprovalIndex): void {
    for (const [upstream, { forget, add }] of this.#unwritten) {
      if (forget) index.forgetApproved(upstream);
      for (const approval of add) index.add(approval);
    }
  }

  async flush(): Promise<void> {
    await this.#lastWrite;
  }

  /** Runs `write` after all earlier writes, and after the automatic approvals in memory have been stored. */
  #enqueueWrite(write: () => Promise<void>): Promise<void> {
    this.#revision++;
    const result = this.#lastWrite.then(async () => {
      await this.#storeUnwritten();
      await write();
    });
    this.#lastWrite = result.catch(() => {}); // A failure must not stop later writes; the caller handles it.
    return result;
  }

  async #storeUnwritten(): Promise<void> {
    for (const [upstream, change] of [...this.#unwritten]) {
      this.#unwritten.delete(upstream);
      try {
        await this.#store({ forget: change.forget ? [upstream] : [], add: change.add });
      } catch (error) {
        // Approvals that were added during the attempt are newer than those that failed.
        const later = this.#unwritten.get(upstream);
        this.#unwritten.set(upstream, later === undefined ? change : mergeChanges(change, later));
        this.#reportFailure(upstream, error);
        throw error;
      }
    }
    if (this.#isFailing) this.#deps.log.info('Approvals are stored in the database again.');
    this.#isFailing = false;
  }

  async #store(change: ApprovalChange): Promise<void> {
    await writeApprovals(await this.#deps.database(), change);
  }

  /** Logs only the first failure, because a full disk fails every attempt. */
  #reportFailure(upstream: UpstreamName, error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#deps.log.warn('The database rejected approvals; they are kept in memory and retried.', {
      upstream,
      reason,
    });
  }
}

/** Merges two changes of a server into one that has only the latest approval for each kind and name. A later `forget` discards the earlier change. */
function mergeChanges(before: ServerChange | undefined, { forget, add }: ServerChange): ServerChange {
  if (before === undefined || forget) return { forget, add };
  const latest = new Map(
    [...before.add, ...add].map((approval) => [`${approval.kind} ${approval.name}`, approval]),
  );
  return { forget: before.forget, add: [...latest.values()] };
}
