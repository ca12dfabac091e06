import { join } from 'node:path';
import { GatewayError } from '../../core/errors.ts';
import { connectToGateway } from './connect-to-gateway.ts';
import type { GatewayPipe } from './connect-to-gateway.ts';
import { explainDifferences } from './client-variables.ts';
import { findGatewayRecord, runDirOf } from './gateway-record.ts';
import type { GatewayRecord } from './gateway-record.ts';
import type { ClientHello } from './pipe-handshake.ts';
import type { SharedGatewayIdentity } from './gateway-identity.ts';
import { findRunningGateway } from './find-running-gateway.ts';
import { acquireStartLock } from './start-lock.ts';

export interface FindOrStartOptions {
  readonly stateDir: string;
  readonly identity: SharedGatewayIdentity;
  readonly hello: ClientHello;
  /** Starts a gateway. Resolves when it listens. */
  readonly start: () => Promise<void>;
  readonly pid: number;
  readonly isAlive: (pid: number) => boolean;
  readonly now: () => number;
}

const TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 20;
/** Maximum number of gateways that this process starts before it gives up. */
const MAX_STARTS = 2;

/**
 * Opens a pipe to the running gateway with this identity. If there is none, one of the processes that look for the gateway starts it while
 * the others wait. A gateway with another version or configuration text keeps its clients and stops after its last client has left.
 */
export async function findOrStartGateway(options: FindOrStartOptions): Promise<GatewayPipe> {
  const { stateDir, identity, hello } = options;
  const lockFile = join(runDirOf(stateDir), 'gateway.lock');
  const deadline = performance.now() + TIMEOUT_MS;
  let starts = 0;
  const unreachable = new Set<number>();
  while (performance.now() < deadline) {
    const record = findGatewayRecord(stateDir, unreachable);
    const running = await findRunningGateway(stateDir, identity, unreachable);
    if (running !== undefined) {
      const pipe = await connectToGateway(running.socket, hello).catch((error: unknown) => {
        if (error instanceof GatewayError && error.code === 'USAGE') throw error;
        return undefined; // The next round looks for another gateway or starts one.
      });
      if (pipe !== undefined)
        return { ...pipe, notes: [...pipe.notes, ...describeDifferences(pipe, running)] };
      unreachable.add(running.pid);
      continue;
    }
    const lock = acquireStartLock(lockFile, options);
    if (lock === undefined) {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
      continue;
    }
    try {
      // Another process may have started a gateway before this one acquired the lock.
      const latest = findGatewayRecord(stateDir, unreachable);
      if (latest?.pid !== record?.pid) continue;
      if (++starts > MAX_STARTS) break;
      await options.start();
      if (latest !== undefined) void retire(latest);
    } finally {
      lock[Symbol.dispose]();
    }
  }
  throw new GatewayError(
    'GATEWAY_UNAVAILABLE',
    'The background gateway was started but cannot be reached. The reason may be in logs/gateway.log in the state folder.',
  );
}

function describeDifferences({ differing }: GatewayPipe, { kind }: GatewayRecord): readonly string[] {
  return explainDifferences(differing, { place: 'this client', kind }).map(
    ({ problem, fix }) => `${problem} ${fix}`,
  );
}

/** Asks a replaced gateway to stop when its last client has left. A gateway that a person started is not asked. */
async function retire({ kind, socket }: GatewayRecord): Promise<void> {
  if (kind !== 'background') return;
  // Failures are ignored: the gateway may have stopped already, and it stops by itself when idle.
  const pipe = await connectToGateway(socket, { retire: true }).catch(() => undefined);
  pipe?.socket.destroy();
}
