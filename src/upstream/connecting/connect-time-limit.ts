import type { UpstreamName } from '../../core/ids.ts';
import type { Cancellation } from '../../core/lib/cancellation.ts';
import { connectTimeoutError, installTimeoutError } from './upstream-errors.ts';

/** Maximum time for the first start of a server while its package launcher works; a longer `timeouts.connect` replaces it. */
const MAX_INSTALL_MS = 5 * 60_000;

/**
 * Cancels an attempt to connect after `timeouts.connect`. When a package launcher starts a server for the first time, the time counts
 * neither while the launcher waits for its turn nor while it works.
 */
export class ConnectTimeLimit implements Disposable {
  readonly #upstream: UpstreamName;
  readonly #connectMs: number;
  readonly #cancellation: Cancellation;
  #timer: NodeJS.Timeout | undefined;
  #installEndsAt: number | undefined;

  constructor(upstream: UpstreamName, connectMs: number, cancellation: Cancellation) {
    this.#upstream = upstream;
    this.#connectMs = connectMs;
    this.#cancellation = cancellation;
    this.#timer = setTimeout(() => cancellation.cancel(connectTimeoutError(upstream, connectMs)), connectMs);
  }

  /** Handles the progress of a package launcher. */
  onInstall(progress: 'queued' | 'working'): void {
    if (this.#cancellation.reason !== undefined) return;
    clearTimeout(this.#timer);
    if (progress === 'queued') return;
    const maxMs = Math.max(MAX_INSTALL_MS, this.#connectMs);
    this.#installEndsAt ??= performance.now() + maxMs;
    const leftMs = this.#installEndsAt - performance.now();
    const idleMs = leftMs < this.#connectMs ? undefined : this.#connectMs;
    this.#timer = setTimeout(
      () => this.#cancellation.cancel(installTimeoutError(this.#upstream, { idleMs, maxMs })),
      idleMs ?? leftMs,
    );
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
