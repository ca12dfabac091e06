import type { UpstreamName } from '../../model/ids.ts';
import type { Logger } from '../../observe/log.ts';
import type { Database } from '../../storage/database.ts';
import { writeApprovals } from './approval-rows.ts';
import type { Approval } from './approval-rows.ts';
import type { Ledger } from './ledger.ts';

type Change = Parameters<typeof writeApprovals>[1];

/** What is to be said of one server. */
interface Kept {
  readonly forget: boolean;
  readonly add: readonly Approval[];
}

interface WritesDeps {
  readonly database: () => Promise<Database>;
  readonly log: Logger;
}

/** Writes to the store, one after the other. What was approved by a look is kept while the store refuses it, since nobody will look again. */
export class ApprovalWrites {
  readonly #deps: WritesDeps;
  readonly #kept = new Map<UpstreamName, Kept>();
  #writing: Promise<void> = Promise.resolve();
  #isTroubled = false;
  #edition = 0;

  constructor(deps: WritesDeps) {
    this.#deps = deps;
  }

  /** Another one after each change. */
  get edition(): number {
    return this.#edition;
  }

  /** Whether something waits for a store that takes it. */
  get isBehind(): boolean {
    return this.#isTroubled;
  }

  /** Fails when it cannot be stored; then it is not kept either. */
  write(change: Change): Promise<void> {
    for (const upstream of change.forget ?? []) this.#kept.delete(upstream);
    return this.#queue(() => this.#store(change));
  }

  /** Stored now, or as soon as that can be. */
  keep(upstream: UpstreamName, change: Kept): void {
    this.#kept.set(upstream, followed(this.#kept.get(upstream), change));
    // It is said, and tried again.
    this.#queue(async () => {}).catch(() => {});
  }

  /** Tries again what was refused; never fails. */
  async retry(): Promise<void> {
    await this.#writing;
    if (this.#kept.size > 0) await this.#queue(async () => {}).catch(() => {});
  }

  /** What the store does not have yet, a ledger that was read from it must have nevertheless. */
  putInto(ledger: Ledger): void {
    for (const [upstream, { forget, add }] of this.#kept) {
      if (forget) ledger.forget(upstream);
      for (const approval of add) ledger.add(approval);
    }
  }

  async flush(): Promise<void> {
    await this.#writing;
  }

  #queue(then: () => Promise<void>): Promise<void> {
    this.#edition++;
    const written = this.#writing.then(async () => {
      await this.#storeKept();
      await then();
    });
    this.#writing = written.catch(() => {}); // Who asked for it is told.
    return written;
  }

  async #storeKept(): Promise<void> {
    for (const [upstream, kept] of [...this.#kept]) {
      this.#kept.delete(upstream);
      try {
        await this.#store({ forget: kept.forget ? [upstream] : [], add: kept.add });
      } catch (error) {
        const later = this.#kept.get(upstream);
        this.#kept.set(upstream, later === undefined ? kept : followed(kept, later));
        this.#troubled(upstream, error);
        throw error;
      }
    }
    if (this.#isTroubled) this.#deps.log.info('What was approved is stored again.');
    this.#isTroubled = false;
  }

  async #store(change: Change): Promise<void> {
    await writeApprovals(await this.#deps.database(), change);
  }

  /** Once: a full disk is full at every attempt. */
  #troubled(upstream: UpstreamName, error: unknown): void {
    if (this.#isTroubled) return;
    this.#isTroubled = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#deps.log.warn('What was approved is in memory only until the database takes it.', {
      upstream,
      reason,
    });
  }
}

/** At most one of each entry, however often it was approved. */
function followed(before: Kept | undefined, { forget, add }: Kept): Kept {
  if (before === undefined || forget) return { forget, add };
  const latest = new Map([...before.add, ...add].map((each) => [`${each.kind} ${each.name}`, each]));
  return { forget: before.forget, add: [...latest.values()] };
}
