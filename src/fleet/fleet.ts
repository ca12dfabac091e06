import { randomBytes } from 'node:crypto';

import { deriveKey } from '../lib/derived-key.ts';
import { Scope } from '../lib/scope.ts';
import { GatewayError } from '../model/errors.ts';
import type { Logger } from '../observe/log.ts';
import type { Database } from '../storage/database.ts';
import { Heartbeat } from './heartbeat.ts';
import { addressText } from './line/host-and-port.ts';
import { Line } from './line/line.ts';
import { Ownerships } from './ownerships.ts';
import { Replicas } from './replicas.ts';
import { steadyClock } from './steady-clock.ts';

/** This gateway as one of those that share a database. */
export interface Fleet extends AsyncDisposable {
  readonly replicas: Replicas;
  readonly line: Line;
  readonly ownerships: Ownerships;
  /** Settled when it was tried for the first time to become a member; never rejects. */
  readonly attempted: Promise<void>;
  /** Why this gateway is no member; undefined where it is one. */
  readonly problem: () => GatewayError | undefined;
}

interface FleetOptions {
  readonly database: () => Promise<Database>;
  /** Follows what other gateways change. */
  readonly follow: (topic: 'replicas', listener: () => void) => void;
  /** The secret that all of them share. */
  readonly secret: Buffer;
  readonly version: string;
  /** Where the line listens; port 0 for any. */
  readonly listen: { readonly host: string; readonly port: number };
  /** As others reach it; port 0 for that of `listen`. */
  readonly address: { readonly host: string; readonly port: number };
  readonly maxMessageBytes: number;
  readonly log: Logger;
}

const BEAT_MS = 2000;
const JOIN_MS = 2000;
const ID_LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';

/** Listens for the others and joins them; where their key is another one it says so, and stays alone. */
export async function openFleet(options: FleetOptions): Promise<Fleet> {
  const { database, secret, version, log, listen, address } = options;
  const id = [...randomBytes(8)].map((byte) => ID_LETTERS[byte % ID_LETTERS.length]).join('');
  const scope = new Scope((error) => log.warn('Leaving the fleet failed.', { reason: String(error) }));
  const line: Line = scope.use(
    await Line.listen({
      ...{ self: id, ...listen, maxMessageBytes: options.maxMessageBytes, log },
      key: deriveKey(secret, 'trunkline line 1'),
      addressOf: (replica) => replicas.find(replica)?.address,
    }),
  );
  const self = { id, version, address: addressText(address.host, address.port || line.port) };
  const keyCheck = deriveKey(secret, 'trunkline check 1').toString('base64url').slice(0, 22);
  const replicas = new Replicas({ self, keyCheck, database });
  replicas.onChange(() => line.sweep());
  const onError = (error: unknown): void =>
    log.debug('An ownership was not given back.', { reason: String(error) });
  const ownerships = new Ownerships({ self: id, database, clock: steadyClock(), onError });
  let problem: GatewayError | undefined = notYet();
  const join = async (): Promise<void> => {
    await replicas.join();
    problem = undefined;
    log.info('Joined the fleet.', { replica: id, address: self.address, others: replicas.others().length });
  };
  const refused = (error: unknown): void => {
    problem = error instanceof GatewayError ? error : notYet();
    if (problem.code === 'CONFIG_INVALID') log.error(problem.message);
    else log.warn('Cannot join the fleet yet.', { reason: problem.message });
  };
  // Whoever starts while the database is away is a member when it is back.
  const attempted = join().catch(refused);
  await Promise.race([attempted, patience()]);
  scope.defer(async () => {
    if (problem !== undefined) return;
    await ownerships.releaseAll();
    await replicas.leave();
  });
  const beat = async (): Promise<void> => {
    // First what somebody may lose.
    await ownerships.renew();
    if (problem === undefined) await replicas.beat();
    else
      await join().catch((error: unknown) => {
        // The others may get our key one after the other; that was said.
        if (!(error instanceof GatewayError) || error.code !== 'CONFIG_INVALID') throw error;
        if (problem?.code !== 'CONFIG_INVALID') refused(error);
      });
  };
  options.follow('replicas', () => void replicas.look().catch(() => {})); // The next beat looks as well.
  scope.use(
    new Heartbeat({
      ...{ everyMs: BEAT_MS, beat },
      onTrouble: (error) => {
        if (problem === undefined)
          log.warn('Others may take this gateway for gone.', { reason: String(error) });
      },
      onHealed: () => log.info('Others see this gateway.'),
    }),
  );
  return {
    ...{ replicas, line, ownerships, attempted, problem: () => problem },
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  };
}

function patience(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, JOIN_MS).unref());
}

function notYet(): GatewayError {
  return new GatewayError(
    'STORE_AWAY',
    'This gateway has not joined its fleet yet, since its database is not there.',
  );
}
