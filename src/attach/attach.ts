import { join } from 'node:path';
import { GatewayError } from '../model/errors.ts';
import { dial } from './dial.ts';
import type { Dialled } from './dial.ts';
import { readRecord, runDirOf } from './gateway-record.ts';
import type { GatewayRecord } from './gateway-record.ts';
import type { Hello } from './hello.ts';
import type { Identity } from './identity.ts';
import { runningGateway } from './running-gateway.ts';
import { takeLock } from './start-lock.ts';

export interface AttachOptions {
  readonly stateDir: string;
  readonly identity: Identity;
  readonly hello: Hello;
  /** Resolves when the started gateway listens. */
  readonly start: () => Promise<void>;
  readonly pid: number;
  readonly isAlive: (pid: number) => boolean;
  readonly now: () => number;
}

const WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 20;
const MAX_STARTS = 2;

/**
 * A pipe to the running gateway of this identity. Where there is none, one of those who look for it starts it while the others wait. One of
 * another version, configuration text or environment is left to the clients it has, and ends with the last of them.
 */
export async function attach(options: AttachOptions): Promise<Dialled> {
  const { stateDir, identity, hello } = options;
  const lockFile = join(runDirOf(stateDir), 'gateway.lock');
  const until = performance.now() + WITHIN_MS;
  let starts = 0;
  const unreachable = new Set<number>();
  while (performance.now() < until) {
    const record = readRecord(stateDir, unreachable);
    const running = await runningGateway(stateDir, identity, unreachable);
    if (running !== undefined) {
      const dialled = await dial(running.socket, hello).catch((error: unknown) => {
        if (error instanceof GatewayError && error.code === 'USAGE') throw error;
        return undefined; // Another one is looked for, and else started.
      });
      if (dialled !== undefined) return dialled;
      unreachable.add(running.pid);
      continue;
    }
    const lock = takeLock(lockFile, options);
    if (lock === undefined) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      continue;
    }
    try {
      // Somebody may have started one between our look and our lock.
      const latest = readRecord(stateDir, unreachable);
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
    'The gateway in the background was started, but cannot be reached.',
  );
}

/** Asks a gateway that has a successor to end with its last client; one that a person started stays. */
async function retire({ kind, socket }: GatewayRecord): Promise<void> {
  if (kind !== 'background') return;
  // Best effort: it may be gone, and would end by itself when idle.
  const dialled = await dial(socket, { retire: true }).catch(() => undefined);
  dialled?.socket.destroy();
}
