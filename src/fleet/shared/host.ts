import { Cancellation } from '../../lib/cancellation.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { deferred } from '../../lib/deferred.ts';
import type { Deferred } from '../../lib/deferred.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Logger } from '../../observe/log.ts';
import type { UpstreamPool } from '../../upstream/sharing/pool.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import type { Channel, ChannelEvents } from '../channel.ts';
import type { Ownerships } from '../ownerships.ts';
import { Guest } from './guest.ts';
import { ownershipOf, placeOf, readPlace } from './server-place.ts';
import type { ServerPlace } from './server-place.ts';

interface HostOptions {
  readonly pool: Pick<UpstreamPool, 'get' | 'forSession' | 'restart' | 'events'>;
  readonly ownerships: Pick<Ownerships, 'held'>;
  readonly log: Logger;
}

interface Opening {
  readonly channel: Channel;
  readonly from: string;
  readonly signal: AbortSignal;
}

/** Serves other gateways the servers that this one runs for the whole fleet. */
export class Host {
  readonly #options: HostOptions;
  readonly #guests = new Map<Guest, ServerPlace>();
  #count = 0;
  #underWay = 0;
  #isLeaving = false;
  #quiet: Deferred<void> | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    const { events } = options.pool;
    const each = (name: UpstreamName, tell: (guest: Guest) => void): void => {
      for (const [guest, { server }] of this.#guests) if (server === name) tell(guest);
    };
    events.on('listChanged', ({ name }) => each(name, (guest) => guest.listChanged()));
    events.on('news', ({ name, params }) => each(name, (guest) => guest.news(params)));
    events.on('state', ({ name, state }) => {
      if (state.at !== 'ready') return;
      const facts = canonicalJson(state.server);
      each(name, (guest) => {
        if (canonicalJson(guest.facts) !== facts) guest.close(changed(name));
      });
    });
  }

  /** Another gateway wants to use a server. */
  async opened(
    what: JsonObject,
    { channel, from, signal }: Opening,
  ): Promise<{ readonly said: JsonObject; readonly events: ChannelEvents }> {
    const place = readPlace(what);
    const ownership = place && this.#options.ownerships.held(ownershipOf(place));
    const upstream = place && this.#upstream(place);
    if (place === undefined || ownership === undefined || upstream === undefined) throw notHere();
    const use = ownership.use();
    try {
      const cancellation = new Cancellation();
      signal.addEventListener('abort', () => cancellation.cancel(notHere()), { once: true });
      const { facts } = (await upstream.connected(cancellation)).opened;
      const lost = ownership.onLost(() => guest.close(notHere()));
      const guest: Guest = new Guest({
        ...{ id: `${from}/${++this.#count}`, channel, facts },
        upstream: () => (ownership.isHeld ? this.#upstream(place) : undefined),
        begin: () => this.#begin(),
        onClosed: () => {
          this.#guests.delete(guest);
          lost[Symbol.dispose]();
          use[Symbol.dispose]();
        },
      });
      this.#guests.set(guest, place);
      this.#options.log.debug('Runs a server for another gateway.', {
        upstream: place.server,
        replica: from,
      });
      return { said: { facts }, events: guest };
    } catch (error) {
      use[Symbol.dispose]();
      throw error;
    }
  }

  /** Another gateway wants it restarted; only who runs it can. */
  async restart(what: JsonObject): Promise<JsonObject> {
    const place = readPlace(what);
    const upstream = place && this.#options.ownerships.held(ownershipOf(place)) && this.#upstream(place);
    if (upstream !== undefined) await this.#options.pool.restart(upstream.name);
    return { restarted: upstream !== undefined };
  }

  /** Nothing new is taken from other gateways, which look for another one; resolves when what was taken is answered. */
  leave(): Promise<void> {
    this.#isLeaving = true;
    this.#quiet ??= deferred<void>();
    if (this.#underWay === 0) this.#quiet.resolve();
    return this.#quiet.promise;
  }

  #upstream(place: ServerPlace): Upstream | undefined {
    if (this.#isLeaving) return undefined;
    const { pool } = this.#options;
    const name = place.server as UpstreamName; // Where it is none, there is nothing of that name.
    const config = pool.get(name)?.config;
    if (config === undefined) return undefined;
    const own = placeOf(config, place.session);
    if (own === undefined || ownershipOf(own) !== ownershipOf(place)) return undefined;
    return place.session === undefined ? pool.get(name) : pool.forSession(name, place.session);
  }

  #begin(): () => void {
    this.#underWay++;
    return () => {
      this.#underWay--;
      if (this.#underWay === 0) this.#quiet?.resolve();
    };
  }
}

function notHere(): GatewayError {
  return new GatewayError('REPLICA_AWAY', 'The gateway that was asked does not run this server any more.');
}

function changed(name: string): GatewayError {
  return new GatewayError('UPSTREAM_CLOSED', `Server "${name}" was started anew and is not what it was.`);
}
