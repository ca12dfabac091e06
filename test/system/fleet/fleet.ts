import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { type GatewayOptions, type RunningGateway, startGateway } from '../../support/gateway.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { RawClient } from '../../support/raw-client.ts';
import type { RawClientOptions } from '../../support/raw-messages.ts';
import { httpTransport } from '../../support/raw-transports.ts';
import { type Balancer, startBalancer } from './balancer.ts';

export interface FleetOptions extends Omit<GatewayOptions, 'listen' | 'home'> {
  /** The URL of a separate database, for tests that cannot use the shared one. */
  readonly storageUrl?: string;
}

/** Several gateways on one PostgreSQL database, each with its own home folder, behind a balancer without sticky sessions. */
export interface RunningFleet extends AsyncDisposable {
  /** The running gateways; a restart replaces its entry. */
  readonly replicas: readonly RunningGateway[];
  readonly balancer: Balancer;
  /** The MCP URL of the balancer. */
  readonly url: string;
  readonly storageUrl: string;
  /** The secret that all replicas share. */
  readonly key: string;
  /** Opens a client whose requests go to the replicas in turn. */
  client(options?: RawClientOptions): Promise<RawClient>;
  /** Stops a replica normally, unless it has already ended, and starts another one with the same home folder. */
  restart(at: number): Promise<RunningGateway>;
}

export async function startFleet(count: number, options: FleetOptions): Promise<RunningFleet> {
  const { storageUrl = (await (await sharedPostgres()).newSchema()).url, config, env, ...rest } = options;
  const key = env?.['TRUNKLINE_KEY'] ?? randomBytes(32).toString('base64');
  const storage = { url: storageUrl, key: '${env:TRUNKLINE_KEY}', ...(config?.['storage'] as object) };
  const start = (home?: string): Promise<RunningGateway> =>
    startGateway({
      args: ['--expose', 'direct'],
      ...rest,
      config: { startup: { listWait: '60s' }, ...config, storage },
      env: { TRUNKLINE_KEY: key, ...env },
      listen: 'http',
      ...(home !== undefined && { home }),
    });
  const starting = await Promise.allSettled(Array.from({ length: count }, () => start()));
  const replicas = starting.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = starting.find((result) => result.status === 'rejected');
  const end = async (): Promise<void> => {
    const results = await Promise.allSettled(replicas.map(dispose));
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  };
  if (failed !== undefined) {
    await end();
    throw failed.reason;
  }
  const balancer = await startBalancer(() => replicas.map(({ url }) => url));
  const clients: RawClient[] = [];
  return {
    replicas,
    balancer,
    url: balancer.url,
    storageUrl,
    key,
    async client(how = {}) {
      const client = await RawClient.over(httpTransport(balancer.url), how);
      clients.push(client);
      await client.open();
      return client;
    },
    async restart(at) {
      const before = replicas[at];
      if (before === undefined) throw new Error(`There is no replica ${at}.`);
      await dispose(before);
      return (replicas[at] = await start(before.home));
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(clients.map((client) => client.close()));
      await balancer[Symbol.asyncDispose]();
      await end();
    },
  };
}

/** Stops a replica. Removes the run folder of a killed one, because it could not do that itself. */
async function dispose(replica: RunningGateway): Promise<void> {
  await replica[Symbol.asyncDispose]();
  const { signal } = await replica.exited;
  if (signal === 'SIGKILL') rmSync(join(replica.home, 'state', 'run'), { recursive: true, force: true });
}
