import type { UpstreamConfig } from '../../config/config.ts';
import type { Cancellation } from '../../lib/cancellation.ts';
import { GatewayError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { ServerFacts } from '../../model/server-facts.ts';
import type { Logger } from '../../observe/log.ts';
import type { Opened, OpenPeer } from '../../upstream/open-peer.ts';
import { Peer } from '../../wire/peer.ts';
import type { Fleet } from '../fleet.ts';
import type { Ownership } from '../ownership.ts';
import type { Claim } from '../ownerships.ts';
import { Endings } from './endings.ts';
import { openGuestStream } from './guest-stream.ts';
import { ownershipOf, placeOf } from './server-place.ts';
import type { ServerPlace } from './server-place.ts';

type How = Parameters<OpenPeer>[1];

interface OpenerOptions {
  readonly fleet: Pick<Fleet, 'line' | 'ownerships' | 'attempted' | 'problem'>;
  /** Opens a server here. */
  readonly open: OpenPeer;
  readonly log: Logger;
}

const FIRST_PAUSE_MS = 50;
const LAST_PAUSE_MS = 500;

/**
 * Opens servers that run once: here, where nobody else runs them, else through the gateway that does. While an owner is gone and its time
 * is not over, whoever needs the server waits.
 */
export function sharedOpener({ fleet, open, log }: OpenerOptions): OpenPeer {
  const endings = new Endings();
  return async (config, how) => {
    const place = placeOf(config, how.session);
    if (place === undefined) return open(config, how);
    await orCancelled(fleet.attempted, how.cancellation);
    const problem = fleet.problem();
    if (problem !== undefined) return openAlone({ config, how, open }, problem);
    let last: unknown;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
      if (how.cancellation.reason !== undefined) throw tooLate(config.name, last, how.cancellation.reason);
      const claim = await claimed(fleet, place);
      if (claim instanceof GatewayError) return openAlone({ config, how, open }, claim);
      if (claim.ours !== undefined) {
        // It may have been given back in the same moment.
        if (claim.ours.isHeld) return openOwned(claim.ours, { config, how, open }, endings);
        continue;
      }
      try {
        const opened = await openThere({ line: fleet.line, replica: claim.owner, place }, how);
        log.debug('Another gateway runs this server.', { upstream: config.name, replica: claim.owner });
        return opened;
      } catch (error) {
        if (!isPassing(error)) throw error;
        last = error;
      }
      await pause(pauseMs, how.cancellation);
    }
  };
}

/** Why it cannot be told who runs it, where it cannot. */
async function claimed(
  { ownerships }: Pick<Fleet, 'ownerships'>,
  place: ServerPlace,
): Promise<Claim | GatewayError> {
  try {
    return await ownerships.claim(ownershipOf(place));
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

interface Here {
  readonly config: UpstreamConfig;
  readonly how: How;
  readonly open: OpenPeer;
}

/** While nobody can say who runs what: what is a session's own can run here, what is to run once cannot. */
function openAlone({ config, how, open }: Here, problem: GatewayError): Promise<Opened> {
  if (how.session !== undefined) return open(config, how);
  const text = `Server "${config.name}" runs once for all gateways (share), and this one cannot tell where: ${problem.message}`;
  throw new GatewayError('UPSTREAM_UNAVAILABLE', text, {
    cause: problem,
    details: { upstream: config.name },
  });
}

/** Nothing is written to it, and it ends, when it is no longer ours; it is given back when nothing of it is left. */
async function openOwned(
  ownership: Ownership,
  { config, how, open }: Here,
  endings: Endings,
): Promise<Opened> {
  const use = ownership.use();
  try {
    await endings.of(ownership.name);
    const opened = await open(config, { ...how, mayWrite: () => ownership.isHeld });
    const { peer } = opened;
    const lost = ownership.onLost(() => void peer[Symbol.asyncDispose]());
    void peer.closed.then(async () => {
      await endings.add(ownership.name, peer[Symbol.asyncDispose]());
      lost[Symbol.dispose]();
      use[Symbol.dispose]();
    });
    return opened;
  } catch (error) {
    use[Symbol.dispose]();
    throw error;
  }
}

async function openThere(
  to: { readonly line: Fleet['line']; readonly replica: string; readonly place: ServerPlace },
  { handlers, cancellation }: How,
): Promise<Opened> {
  let facts: ServerFacts | undefined;
  const peer = await Peer.over(async (events) => {
    const { stream, said } = await orGivenUp(openGuestStream(to, events), cancellation);
    facts = isJsonObject(said['facts']) ? (said['facts'] as unknown as ServerFacts) : undefined; // Of a gateway of the same version of the line.
    return stream;
  }, handlers);
  if (facts === undefined) {
    await peer[Symbol.asyncDispose]();
    throw new GatewayError('UPSTREAM_PROTOCOL', 'Another gateway did not say what server it runs.');
  }
  return { peer, facts, hints: () => Promise.resolve({ stderr: [] }) };
}

/** A channel that comes too late is closed. */
async function orGivenUp<T extends { readonly stream: { close(): Promise<void> } }>(
  opening: Promise<T>,
  cancellation: Cancellation,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    cancellation.onCancel(reject);
    opening
      .then((opened) => {
        if (cancellation.reason !== undefined) void opened.stream.close();
        resolve(opened);
      }, reject)
      .finally(() => cancellation.offCancel(reject));
  });
}

/** The owner is gone, or gives it up: another one may be it in a moment. */
function isPassing(error: unknown): boolean {
  return error instanceof GatewayError && (error.code === 'REPLICA_AWAY' || error.code === 'SHUTTING_DOWN');
}

function tooLate(name: string, last: unknown, reason: Error): Error {
  if (!(last instanceof GatewayError)) return reason;
  const text = `Server "${name}" cannot be reached through the gateway that runs it: ${last.message}`;
  return new GatewayError('UPSTREAM_UNAVAILABLE', text, { cause: last, details: { upstream: name } });
}

async function pause(ms: number, cancellation: Cancellation): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await orCancelled(new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))), cancellation);
  clearTimeout(timer);
}

function orCancelled(awaited: Promise<void>, cancellation: Cancellation): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      cancellation.offCancel(over);
      resolve();
    };
    cancellation.onCancel(over);
    void awaited.then(over);
  });
}
