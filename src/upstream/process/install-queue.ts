import type { Cancellation } from '../../core/lib/cancellation.ts';
import { rejectOnCancel } from '../../core/lib/cancellation.ts';
import { deferred } from '../../core/lib/deferred.ts';
import { Slots } from '../../core/lib/slots.ts';

/** Maximum number of launchers that install at the same time. More of them only slow each other down. */
const MAX_CONCURRENT = 3;

/** Ends a turn. The package stays locked until `gone` resolves, because an installer that was left running may still write to the cache. */
export type LeaveInstallQueue = (gone: Promise<void>) => void;

/** Decides when a package launcher may start, because installers of one package that run at the same time damage each other's work. */
export class InstallQueue {
  readonly #slots = new Slots({ width: MAX_CONCURRENT, maxWaiting: Infinity });
  /** Resolves when no launcher installs the package any more, by package. */
  readonly #installing = new Map<string, Promise<void>>();

  /**
   * Waits until no other launcher installs the package. If the server starts for the first time, and so probably has to be installed,
   * it also waits for one of the few slots, and later launchers of the package wait for this one.
   */
  async enter(
    packageKey: string,
    options: { readonly isFirstStart: boolean; readonly cancellation: Cancellation },
  ): Promise<LeaveInstallQueue> {
    const { isFirstStart, cancellation } = options;
    const previous = this.#installing.get(packageKey) ?? Promise.resolve();
    const ended = deferred<void>();
    if (isFirstStart) this.#lock(packageKey, ended.promise);
    try {
      await rejectOnCancel(previous, cancellation);
      if (isFirstStart && !this.#slots.tryEnter()) await this.#slots.enter(cancellation);
    } catch (error) {
      ended.resolve();
      throw error;
    }
    return (gone) => {
      if (isFirstStart) this.#slots.leave();
      else this.#lock(packageKey, gone);
      void gone.then(() => ended.resolve());
    };
  }

  #lock(packageKey: string, ended: Promise<void>): void {
    const lock = Promise.all([this.#installing.get(packageKey), ended]).then(() => {
      if (this.#installing.get(packageKey) === lock) this.#installing.delete(packageKey);
    });
    this.#installing.set(packageKey, lock);
  }
}
