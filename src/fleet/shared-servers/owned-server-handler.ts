import { Cancellation } from '../../core/lib/cancellation.ts';
import { canonicalJson } from '../../core/lib/canonical-json.ts';
import { deferred } from '../../core/lib/deferred.ts';
import type { Deferred } from '../../core/lib/deferred.ts';
import { GatewayError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../observability/log.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import type { ChannelContext, ChannelEvents } from '../channel.ts';
import type { Ownerships } from '../ownerships.ts';
import { OwnedServerSession } from './owned-server-session.ts';
import { toOwnershipName, toSharedServer, parseSharedServer } from './shared-server.ts';
import type { SharedServer } from './shared-server.ts';

interface OwnedServerHandlerOptions {
  readonly pool: Pick<UpstreamPool, 'get' | 'forSession' | 'restart' | 'events'>;
  readonly ownerships: Pick<Ownerships, 'getHeld'>;
  readonly log: Logger;
}

/** Lets other replicas use the shared servers that this replica owns. */
export class OwnedServerHandler {
  readonly #options: OwnedServerHandlerOptions;
  readonly #sessions = new Map<OwnedServerSession, SharedServer>();
  /** The number of sessions since the start, for their ids. */
  #sessionCount = 0;
  #pendingRequests = 0;
  #isDraining = false;
  /** Resolved when no request is pending any more; undefined until `drain` is called. */
  #drained: Deferred<void> | undefined;

  constructor(options: OwnedServerHandlerOptions) {
    this.#options = options;
    const { events } = options.pool;
    const forEachSession = (name: UpstreamName, action: (session: OwnedServerSession) => void): void => {
      for (const [session, { server }] of this.#sessions) if (server === name) action(session);
    };
    events.on('listChanged', ({ name }) => forEachSession(name, (session) => session.notifyListChanged()));
    events.on('update', ({ name, params }) =>
      forEachSession(name, (session) => session.notifyUpdate(params)),
    );
    // The other replicas use the facts that they received when they connected. If a restarted server reports
    // different facts, the replicas must reconnect.
    events.on('state', ({ name, state }) => {
      if (state.kind !== 'ready') return;
      const facts = canonicalJson(state.server);
      forEachSession(name, (session) => {
        if (canonicalJson(session.facts) !== facts) session.close(serverChangedError(name));
      });
    });
  }

  /** Accepts a channel through which another replica uses a server. Rejects with REPLICA_AWAY if this replica does not own the server. */
  async acceptChannel(
    request: JsonObject,
    { channel, from, signal }: ChannelContext,
  ): Promise<{ readonly accepted: JsonObject; readonly events: ChannelEvents }> {
    const server = parseSharedServer(request);
    const ownership = server && this.#options.ownerships.getHeld(toOwnershipName(server));
    const upstream = server && this.#findUpstream(server);
    if (server === undefined || ownership === undefined || upstream === undefined) throw notOwnedError();
    const use = ownership.use();
    try {
      const cancellation = new Cancellation();
      signal.addEventListener('abort', () => cancellation.cancel(notOwnedError()), { once: true });
      const { facts } = (await upstream.getConnection(cancellation)).opened;
      // The ownership may have ended while the connection opened.
      if (!ownership.isHeld) throw notOwnedError();
      const lossListener = ownership.onLost(() => session.close(notOwnedError()));
      const session: OwnedServerSession = new OwnedServerSession({
        id: `${from}/${++this.#sessionCount}`,
        channel,
        facts,
        upstream: () => (ownership.isHeld ? this.#findUpstream(server) : undefined),
        onRequestStart: () => this.#startRequest(),
        onClosed: () => {
          this.#sessions.delete(session);
          lossListener[Symbol.dispose]();
          use[Symbol.dispose]();
        },
      });
      this.#sessions.set(session, server);
      this.#options.log.debug('Another gateway uses a server that this one runs.', {
        upstream: server.server,
        replica: from,
      });
      return { accepted: { facts }, events: session };
    } catch (error) {
      use[Symbol.dispose]();
      throw error;
    }
  }

  /** Restarts a server for another replica, if this replica owns the server; `restarted` in the response says whether it does. */
  async restart(request: JsonObject): Promise<JsonObject> {
    const server = parseSharedServer(request);
    const upstream =
      server && this.#options.ownerships.getHeld(toOwnershipName(server)) && this.#findUpstream(server);
    if (upstream !== undefined) await this.#options.pool.restart(upstream.name);
    return { restarted: upstream !== undefined };
  }

  /**
   * Stops accepting requests of other replicas, which then look for another owner. Resolves when the requests that were accepted before
   * have finished.
   */
  drain(): Promise<void> {
    this.#isDraining = true;
    this.#drained ??= deferred<void>();
    if (this.#pendingRequests === 0) this.#drained.resolve();
    return this.#drained.promise;
  }

  /** Returns undefined while draining, or if the server is configured differently here, in which case the replicas do not share it. */
  #findUpstream(server: SharedServer): Upstream | undefined {
    if (this.#isDraining) return undefined;
    const { pool } = this.#options;
    const name = server.server as UpstreamName; // The pool contains no server with an invalid name.
    const config = pool.get(name)?.config;
    if (config === undefined) return undefined;
    const ownServer = toSharedServer(config, server.session);
    if (ownServer === undefined || toOwnershipName(ownServer) !== toOwnershipName(server)) return undefined;
    return server.session === undefined ? pool.get(name) : pool.forSession(name, server.session);
  }

  #startRequest(): () => void {
    this.#pendingRequests++;
    return () => {
      this.#pendingRequests--;
      if (this.#pendingRequests === 0) this.#drained?.resolve();
    };
  }
}

function notOwnedError(): GatewayError {
  return new GatewayError('REPLICA_AWAY', 'The other gateway no longer runs this server.');
}

function serverChangedError(name: string): GatewayError {
  return new GatewayError(
    'UPSTREAM_CLOSED',
    `Server "${name}" was restarted and no longer reports the same version, capabilities or instructions.`,
  );
}
