import type { ConfigSnapshot } from '../config/config.ts';
import { waitAtMost } from '../core/lib/wait-at-most.ts';
import type { Scope } from '../core/lib/scope.ts';
import type { LazySandbox } from '../exposure/code/lazy-sandbox.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { ClientListener } from './client-listeners.ts';

interface ShutdownParts {
  readonly config: () => ConfigSnapshot;
  readonly listener: ClientListener;
  readonly signIns: AsyncDisposable;
  readonly sandbox: LazySandbox;
  readonly gateway: Gateway;
  /** Stops accepting requests from other gateways of the fleet; resolves when their pending requests have been answered. */
  readonly leaveFleet: () => Promise<void>;
  /** All parts that were opened at the start. */
  readonly scope: Scope;
}

/**
 * Stops a running gateway. Requests in flight may take the configured `shutdown` time; then they are cancelled. A second signal ends the
 * process at once (`src/main.ts`), and the watchdog of `src/upstream/process` ends the servers if the process is killed.
 */
export async function shutDown(parts: ShutdownParts): Promise<void> {
  const { config, listener, signIns, sandbox, gateway, leaveFleet, scope } = parts;
  const { shutdownMs, http } = config().value;

  // 1. Load balancers learn that the gateway stops, while it continues to serve for the time of `http.drain`.
  if (http.drainMs > 0) await listener.drain?.(http.drainMs);

  // 2. The gateway refuses new connections and requests.
  listener.stopAccepting();
  const end = performance.now() + shutdownMs;
  const remainingMs = (): number => Math.max(0, end - performance.now());

  // 3. Open sign-ins end, so that calls that wait for them are answered now.
  void signIns[Symbol.asyncDispose]();

  // 4. Requests of clients, scripts, and requests of other gateways finish.
  await waitAtMost(Promise.all([listener.drained(), sandbox.waitUntilIdle()]), shutdownMs);
  await waitAtMost(leaveFleet(), remainingMs());
  await gateway.drain(remainingMs());

  // 5. Scripts end while the listener is open, so that their clients get an answer.
  await sandbox[Symbol.asyncDispose]();

  // 6. Everything else closes in the reverse order of the start: listeners, servers, telemetry, database, audit log.
  await scope[Symbol.asyncDispose]();
}
