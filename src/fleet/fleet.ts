import { randomBytes } from 'node:crypto';

import { deriveKey } from '../core/lib/derive-key.ts';
import { Scope } from '../core/lib/scope.ts';
import { GatewayError } from '../core/errors.ts';
import type { Logger } from '../observability/log.ts';
import type { Database } from '../core/storage/database.ts';
import { Heartbeat } from './heartbeat.ts';
import { formatHostAndPort } from './transport/host-and-port.ts';
import { FleetTransport } from './transport/fleet-transport.ts';
import { Ownerships } from './ownerships.ts';
import { Replicas } from './replicas.ts';
import { createSteadyClock } from './steady-clock.ts';

/** The membership of this gateway in a fleet, which is a group of gateways that share a database. */
export interface Fleet extends AsyncDisposable {
  readonly replicas: Replicas;
  readonly transport: FleetTransport;
  readonly ownerships: Ownerships;
  /** Settles after the first attempt to join; never rejects. */
  readonly firstJoinAttempt: Promise<void>;
  /** Returns why this gateway is not a member, or undefined if it is one. */
  readonly joinProblem: () => GatewayError | undefined;
}

interface FleetOptions {
  readonly database: () => Promise<Database>;
  /** Registers a listener for changes by other gateways. */
  readonly follow: (topic: 'replicas', listener: () => void) => void;
  /** The secret that all replicas share. */
  readonly secret: Buffer;
  readonly version: string;
  /** The address to listen on. Port 0 lets the system choose a free port. */
  readonly listen: { readonly host: string; readonly port: number };
  /** The address that other replicas connect to. Port 0 stands for the port on which this replica listens. */
  readonly address: { readonly host: string; readonly port: number };
  readonly maxMessageBytes: number;
  readonly log: Logger;
}

const HEARTBEAT_MS = 2000;
/** The longest time that the start of the gateway waits for the first attempt to join. */
const JOIN_TIMEOUT_MS = 2000;
/** The 32 characters of replica ids. 256 is a multiple of 32, so all are equally likely. `readReplicaFromId` expects the same characters. */
const ID_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * Listens for the other replicas and joins the fleet. If joining fails, for example because the other replicas have another key, the
 * problem is logged and each heartbeat tries again.
 */
export async function openFleet(options: FleetOptions): Promise<Fleet> {
  const { database, secret, version, log, listen, address } = options;
  const id = [...randomBytes(8)].map((byte) => ID_CHARACTERS[byte % ID_CHARACTERS.length]).join('');
  const scope = new Scope((error) => log.warn('Leaving the fleet failed.', { reason: String(error) }));
  const transport: FleetTransport = scope.use(
    await FleetTransport.listen({
      self: id,
      ...listen,
      maxMessageBytes: options.maxMessageBytes,
      log,
      // The label must not change: another label gives another key, so replicas of other versions could not
      // connect.
      key: deriveKey(secret, 'trunkline line 1'),
      // `replicas` is created below. The transport needs addresses only for outgoing connections, and none is
      // opened before that.
      addressOf: (replica) => replicas.find(replica)?.address,
    }),
  );
  const self = { id, version, address: formatHostAndPort(address.host, address.port || transport.port) };
  const keyCheck = deriveKey(secret, 'trunkline check 1').toString('base64url').slice(0, 22);
  const replicas = new Replicas({ self, keyCheck, database, log });
  replicas.onChange(() => transport.closeStaleConnections());
  const onError = (error: unknown): void =>
    log.debug('An ownership could not be released.', { reason: String(error) });
  const ownerships = new Ownerships({ self: id, database, clock: createSteadyClock(), onError });
  const membership = new FleetMembership(replicas, ownerships, log);
  // If the database is unreachable now, a later heartbeat joins.
  const firstJoinAttempt = membership.join();
  await Promise.race([firstJoinAttempt, joinTimeout()]);
  // The scope closes in reverse order: the heartbeat stops, then this replica leaves, then the transport closes.
  scope.defer(() => membership.leave());
  options.follow('replicas', () => void replicas.refresh().catch(() => {})); // After a failure, the next heartbeat reads the replicas.
  scope.use(
    new Heartbeat({
      everyMs: HEARTBEAT_MS,
      beat: () => membership.beat(),
      onFailure: (error) => {
        // A gateway that has not joined yet has already logged why.
        if (membership.problem === undefined)
          log.warn('Other replicas may treat this gateway as gone.', { reason: String(error) });
      },
      onRecovery: () => log.info('Other replicas see this gateway again.'),
    }),
  );
  return {
    replicas,
    transport,
    ownerships,
    firstJoinAttempt,
    joinProblem: () => membership.problem,
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  };
}

/** The membership of this gateway: joins, sends heartbeats, and leaves. */
class FleetMembership {
  /** Why this gateway is not a member; undefined while it is one. */
  problem: GatewayError | undefined = notJoinedError();
  readonly #replicas: Replicas;
  readonly #ownerships: Ownerships;
  readonly #log: Logger;

  constructor(replicas: Replicas, ownerships: Ownerships, log: Logger) {
    this.#replicas = replicas;
    this.#ownerships = ownerships;
    this.#log = log;
  }

  /** Tries to join. Never rejects: a failure is logged and stored in `problem`. */
  join(): Promise<void> {
    return this.#join().catch((error: unknown) => this.#reportProblem(error));
  }

  /** Renews the ownerships, and then sends a heartbeat, or tries to join if this gateway is not a member yet. */
  async beat(): Promise<void> {
    // Ownerships come first, because they expire sooner than the membership.
    await this.#ownerships.renew();
    if (this.problem === undefined) return this.#replicas.beat();
    try {
      await this.#join();
    } catch (error) {
      // CONFIG_INVALID means that another replica has another key. While a new key is rolled out, every
      // heartbeat fails with it, so only the first failure is logged.
      if (!(error instanceof GatewayError) || error.code !== 'CONFIG_INVALID') throw error;
      if (this.problem?.code !== 'CONFIG_INVALID') this.#reportProblem(error);
    }
  }

  async leave(): Promise<void> {
    if (this.problem !== undefined) return;
    await this.#ownerships.releaseAll();
    await this.#replicas.leave();
  }

  async #join(): Promise<void> {
    await this.#replicas.join();
    this.problem = undefined;
    const { id, address } = this.#replicas.self;
    const others = this.#replicas.others().length;
    this.#log.info('Joined the fleet.', { replica: id, address, others });
  }

  #reportProblem(error: unknown): void {
    this.problem = error instanceof GatewayError ? error : notJoinedError();
    if (this.problem.code === 'CONFIG_INVALID') this.#log.error(this.problem.message);
    else this.#log.warn('Cannot join the fleet yet.', { reason: this.problem.message });
  }
}

function joinTimeout(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, JOIN_TIMEOUT_MS).unref());
}

function notJoinedError(): GatewayError {
  return new GatewayError(
    'STORE_AWAY',
    'This gateway has not joined its fleet yet, because its database is unreachable.',
  );
}
