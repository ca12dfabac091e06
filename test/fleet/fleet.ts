import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { type GatewayOptions, type RunningGateway, startGateway } from '../support/gateway.ts';
import { sharedPostgres } from '../support/postgres.ts';
import { RawClient } from '../support/raw-client.ts';
import type { RawClientOptions } from '../support/raw-messages.ts';
import { httpTransport } from '../support/raw-transports.ts';
import { type Balancer, startBalancer } from './balancer.ts';

export interface FleetOptions extends Omit<GatewayOptions, 'listen' | 'home'> {
  /** Of a database of one's own, where the shared one will not do. */
  readonly storageUrl?: string;
}

/** Several gateways on one PostgreSQL, each with a home of its own, behind a balancer that knows no stickiness. */
export interface RunningFleet extends AsyncDisposable {
  /** Changes when one is restarted. */
  readonly replicas: readonly RunningGateway[];
  readonly balancer: Balancer;
  /** Where MCP is served by whichever replica is next. */
  readonly url: string;
  readonly storageUrl: string;
  /** The secret that they share. */
  readonly key: string;
  /** A client whose every request goes to the next replica. */
  client(options?: RawClientOptions): Promise<RawClient>;
  /** Stops it as an operator does, unless it has ended, and starts another one with the same home. */
  restart(at: number): Promise<RunningGateway>;
}

export async function startFleet(count: number, options: FleetOptions): Promise<RunningFleet> {
  const { storageUrl = (await (await sharedPostgres()).newPlace()).url, config, env, ...rest } = options;
  const key = env?.['TRUNKLINE_KEY'] ?? randomBytes(32).toString('base64');
  const storage = { url: storageUrl, key: '${env:TRUNKLINE_KEY}', ...(config?.['storage'] as object) };
  const start = (home?: string): Promise<RunningGateway> =>
    startGateway({
      args: ['--expose', 'direct'],
      ...rest,
      config: { startup: { listWait: '10s' }, ...config, storage },
      env: { TRUNKLINE_KEY: key, ...env },
      listen: 'http',
      ...(home !== undefined && { home }),
    });
  const starting = await Promise.allSettled(Array.from({ length: count }, () => start()));
  const replicas = starting.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = starting.find((one) => one.status === 'rejected');
  const end = async (): Promise<void> => {
    const ended = await Promise.allSettled(replicas.map(dispose));
    const wrong = ended.find((one) => one.status === 'rejected');
    if (wrong !== undefined) throw wrong.reason;
  };
  if (failed !== undefined) {
    await end();
    throw failed.reason;
  }
  const balancer = await startBalancer(() => replicas.map(({ url }) => url));
  const clients: RawClient[] = [];
  return {
    ...{ replicas, balancer, url: balancer.url, storageUrl, key },
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

/** What one that was killed could not remove is taken away for it. */
async function dispose(replica: RunningGateway): Promise<void> {
  await replica[Symbol.asyncDispose]();
  const { signal } = await replica.exited;
  if (signal === 'SIGKILL') rmSync(join(replica.home, 'state', 'run'), { recursive: true, force: true });
}
