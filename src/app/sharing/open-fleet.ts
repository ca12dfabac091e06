import { networkInterfaces } from 'node:os';

import type { KeySource } from '../../auth/upstream/sealing/secret-key.ts';
import type { GatewayConfig } from '../../config/config.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { hostAndPort } from '../../fleet/line/host-and-port.ts';
import type { Scope } from '../../lib/scope.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Logger } from '../../observe/log.ts';
import { MAX_MESSAGE_BYTES } from '../app-options.ts';
import type { AppOptions } from '../app-options.ts';
import type { Store } from '../open-store.ts';

const LOOPBACK = '127.0.0.1';
const ANY: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Where several gateways share a database: this one as one of them. Undefined elsewhere, and for a single command. */
export async function openFleetOf(
  options: Pick<AppOptions, 'http' | 'listen' | 'version'>,
  config: GatewayConfig,
  deps: {
    readonly store: Store;
    readonly key: KeySource;
    readonly scope: Scope;
    readonly log: Logger;
  },
): Promise<Fleet | undefined> {
  const { store, key, scope, log } = deps;
  if (store.place.server === undefined || options.listen === 'nobody') return undefined;
  const { openFleet } = await import('../../fleet/fleet.ts');
  const listen = listensAt(options, config);
  return scope.use(
    await openFleet({
      ...{ database: store.database, follow: store.follow, version: options.version, log },
      ...{ secret: await secretOf(key), listen, maxMessageBytes: MAX_MESSAGE_BYTES },
      address: config.fleet.address === undefined ? reachable(listen) : hostAndPort(config.fleet.address),
    }),
  );
}

async function secretOf(key: KeySource): Promise<Buffer> {
  try {
    return await key.get();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const text = `There is no key that this gateway could share with the others on its database: ${String(error)}. Set storage.key to a reference to one.`;
    throw new GatewayError('CONFIG_INVALID', text, { cause: error });
  }
}

/** At the host where clients are served, so that what was kept to this machine stays there. */
function listensAt(
  { http }: Pick<AppOptions, 'http'>,
  config: GatewayConfig,
): { readonly host: string; readonly port: number } {
  if (config.fleet.listen !== undefined) return hostAndPort(config.fleet.listen);
  const served = http === true ? config.http.address : http;
  const host = served?.includes(':') === true ? hostAndPort(served).host : '';
  return { host: host === '' ? LOOPBACK : host, port: 0 };
}

/** Who listens everywhere is reached at an address of this machine that others can know. */
function reachable({ host, port }: { readonly host: string; readonly port: number }): {
  readonly host: string;
  readonly port: number;
} {
  if (!ANY.has(host)) return { host, port };
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outside = all.filter(({ internal }) => !internal);
  const best =
    outside.find(({ family }) => family === 'IPv4') ?? outside.find(({ scopeid }) => scopeid === 0);
  return { host: best?.address ?? LOOPBACK, port };
}
