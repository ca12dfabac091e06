import type { UpstreamConfig } from '../../config/config.ts';
import type { Cancellation } from '../../core/lib/cancellation.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { ServerFacts } from '../../core/server-facts.ts';
import type { Logger } from '../../observability/log.ts';
import type { OpenedServer, OpenServer, OpenServerOptions } from '../../upstream/server-opener.ts';
import { RpcClient } from '../../protocol/rpc-client.ts';
import type { Fleet } from '../fleet.ts';
import type { Ownership } from '../ownership.ts';
import type { OwnershipClaim } from '../ownerships.ts';
import { openRemoteServerTransport } from './remote-server-transport.ts';
import type { RemoteServerOptions } from './remote-server-transport.ts';
import { toOwnershipName, toSharedServer } from './shared-server.ts';
import type { SharedServer } from './shared-server.ts';

interface SharedServerOpenerOptions {
  readonly fleet: Pick<Fleet, 'transport' | 'ownerships' | 'firstJoinAttempt' | 'joinProblem'>;
  /** Opens a server in this replica. */
  readonly open: OpenServer;
  readonly log: Logger;
}

/** The pause between attempts to reach an owner. It doubles with each attempt, up to the maximum. */
const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 500;

/**
 * Opens servers that run once in the fleet: in this replica if no other replica owns them, otherwise through their owner. If the owner is
 * gone, opening retries until the lease of that owner has expired and a replica can take over.
 */
export function createSharedServerOpener({ fleet, open, log }: SharedServerOpenerOptions): OpenServer {
  const shutdowns = new PendingShutdowns();
  return async (config, options) => {
    const { cancellation } = options;
    const server = toSharedServer(config, options.session);
    if (server === undefined) return open(config, options);
    const local: LocalServer = { config, options, open };
    await settledOrCancelled(fleet.firstJoinAttempt, cancellation);
    const problem = fleet.joinProblem();
    if (cancellation.reason !== undefined) throw cancelledJoinError(local, cancellation.reason, problem);
    if (problem !== undefined) return openWithoutFleet(local, problem);
    let lastError: unknown;
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
      if (cancellation.reason !== undefined)
        throw unreachableOwnerError(config.name, lastError, cancellation.reason);
      const claim = await claimServer(fleet, server);
      if (claim instanceof GatewayError) return openWithoutFleet(local, claim);
      if (claim.ownership !== undefined) {
        // The ownership may have ended since the claim, so the loop claims it again.
        if (claim.ownership.isHeld) return openOwned(claim.ownership, local, shutdowns);
        continue;
      }
      const { owner } = claim;
      try {
        const opened = await openRemote({ fleetTransport: fleet.transport, owner, server }, options);
        log.debug('Another gateway runs this server.', { upstream: config.name, replica: owner });
        return opened;
      } catch (error) {
        if (!isTemporary(error)) throw error;
        lastError = error;
      }
      await waitMs(retryMs, cancellation);
    }
  };
}

/** Tracks processes that are shutting down, because a new process of the same server must not start before they have ended. */
class PendingShutdowns {
  readonly #byName = new Map<string, Set<Promise<void>>>();

  /** Resolves when the shutdown has ended, even if it failed. */
  async add(name: string, shutdown: Promise<void>): Promise<void> {
    const shutdowns = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, shutdowns.add(shutdown));
    try {
      await shutdown;
    } catch {
      // A process that could not be ended must not prevent the start of a new one.
    } finally {
      shutdowns.delete(shutdown);
      if (shutdowns.size === 0) this.#byName.delete(name);
    }
  }

  async waitFor(name: string): Promise<void> {
    await Promise.allSettled([...(this.#byName.get(name) ?? [])]);
  }
}

/** Claims the ownership of a server. Returns the error instead of throwing it if the database cannot tell which replica owns the server. */
async function claimServer(
  { ownerships }: Pick<Fleet, 'ownerships'>,
  server: SharedServer,
): Promise<OwnershipClaim | GatewayError> {
  try {
    return await ownerships.claim(toOwnershipName(server));
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

interface LocalServer {
  readonly config: UpstreamConfig;
  readonly options: OpenServerOptions;
  readonly open: OpenServer;
}

/** Opens a server whose owner is unknown. The server of one session can run here; a server that must run once in the fleet cannot. */
function openWithoutFleet(
  { config, options, open }: LocalServer,
  problem: GatewayError,
): Promise<OpenedServer> {
  if (options.session !== undefined) return open(config, options);
  throw unknownOwnerError(config, problem);
}

/** Returns the error for a cancelled wait for the join. A timeout is explained by the problem that prevents the join, if it is known. */
function cancelledJoinError(
  { config, options }: LocalServer,
  reason: Error,
  problem: GatewayError | undefined,
): Error {
  const isTimeout = reason instanceof GatewayError && reason.code === 'UPSTREAM_UNAVAILABLE';
  const isExplained = isTimeout && problem !== undefined && options.session === undefined;
  return isExplained ? unknownOwnerError(config, problem) : reason;
}

function unknownOwnerError({ name }: UpstreamConfig, problem: GatewayError): GatewayError {
  const text = `Server "${name}" runs once for all gateways (share), and this gateway cannot find out which one runs it: ${problem.message}`;
  return new GatewayError('UPSTREAM_UNAVAILABLE', text, { cause: problem, details: { upstream: name } });
}

/**
 * Opens a server that this replica owns. If the ownership is lost, nothing more is written to the server, and
 * its process is ended. The ownership is released only after the process has ended, so that no other replica
 * starts the server earlier.
 */
async function openOwned(
  ownership: Ownership,
  { config, options, open }: LocalServer,
  shutdowns: PendingShutdowns,
): Promise<OpenedServer> {
  const use = ownership.use();
  try {
    await shutdowns.waitFor(ownership.name);
    const opened = await open(config, { ...options, mayWrite: () => ownership.isHeld });
    const { client } = opened;
    const lossListener = ownership.onLost(() => void client[Symbol.asyncDispose]());
    void client.closed.then(async () => {
      await shutdowns.add(ownership.name, client[Symbol.asyncDispose]());
      lossListener[Symbol.dispose]();
      use[Symbol.dispose]();
    });
    return opened;
  } catch (error) {
    use[Symbol.dispose]();
    throw error;
  }
}

/** Opens a server through the replica that owns it. */
async function openRemote(
  remote: RemoteServerOptions,
  { handlers, cancellation }: OpenServerOptions,
): Promise<OpenedServer> {
  let facts: ServerFacts | undefined;
  const client = await RpcClient.open(async (events) => {
    const opening = openRemoteServerTransport(remote, events);
    const { transport, accepted } = await closeIfCancelled(opening, cancellation);
    // Both replicas use the same protocol version, as the handshake has checked, so the facts have this type.
    facts = isJsonObject(accepted['facts']) ? (accepted['facts'] as unknown as ServerFacts) : undefined;
    return transport;
  }, handlers);
  if (facts === undefined) {
    await client[Symbol.asyncDispose]();
    throw new GatewayError('UPSTREAM_PROTOCOL', 'Another gateway did not describe the server that it runs.');
  }
  return { client, facts, processHints: () => Promise.resolve({ stderr: [] }) };
}

/** Resolves with the transport. If cancelled before, rejects at once and closes the transport as soon as it is open. */
async function closeIfCancelled<T extends { readonly transport: { close(): Promise<void> } }>(
  opening: Promise<T>,
  cancellation: Cancellation,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    cancellation.onCancel(reject);
    opening
      .then((opened) => {
        if (cancellation.reason !== undefined) void opened.transport.close();
        resolve(opened);
      }, reject)
      .finally(() => cancellation.offCancel(reject));
  });
}

/** Whether the owner is gone or is giving up the server, so that another replica may own it soon. */
function isTemporary(error: unknown): boolean {
  return error instanceof GatewayError && (error.code === 'REPLICA_AWAY' || error.code === 'SHUTTING_DOWN');
}

/**
 * Returns the error for a cancelled retry: the last failure to reach the owner, or the reason for the
 * cancellation if there was no failure.
 */
function unreachableOwnerError(name: string, lastError: unknown, reason: Error): Error {
  if (!(lastError instanceof GatewayError)) return reason;
  const text = `Server "${name}" cannot be reached through the gateway that runs it: ${lastError.message}`;
  return new GatewayError('UPSTREAM_UNAVAILABLE', text, { cause: lastError, details: { upstream: name } });
}

async function waitMs(ms: number, cancellation: Cancellation): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await settledOrCancelled(elapsed, cancellation);
  clearTimeout(timer);
}

/** Resolves when the promise, which must not reject, has resolved or the cancellation happens. */
function settledOrCancelled(promise: Promise<void>, cancellation: Cancellation): Promise<void> {
  return new Promise((resolve) => {
    const onDone = (): void => {
      cancellation.offCancel(onDone);
      resolve();
    };
    cancellation.onCancel(onDone);
    void promise.then(onDone);
  });
}
