import { networkInterfaces } from 'node:os';

import type { KeySource } from '../../auth/upstream/token-encryption/secret-key.ts';
import type { GatewayConfig } from '../../config/config.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { parseHostAndPort } from '../../fleet/transport/host-and-port.ts';
import type { Scope } from '../../core/lib/scope.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Logger } from '../../observability/log.ts';
import { MAX_MESSAGE_BYTES } from '../app-options.ts';
import type { AppOptions } from '../app-options.ts';
import type { Store } from '../open-store.ts';

const LOOPBACK = '127.0.0.1';
const WILDCARD_HOSTS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/**
 * Joins the fleet of the gateways that share the configured database. Resolves with undefined if the configuration has no such database, or
 * if the gateway runs only for one command.
 */
export async function openConfiguredFleet(
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
  if (store.place.server === undefined || options.listen === 'none') return undefined;
  const { openFleet } = await import('../../fleet/fleet.ts');
  const listen = getListenAddress(options, config);
  return scope.use(
    await openFleet({
      database: store.database,
      follow: store.follow,
      version: options.version,
      log,
      secret: await readSecret(key),
      listen,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      address:
        config.fleet.address === undefined
          ? toReachableAddress(listen)
          : parseHostAndPort(config.fleet.address),
    }),
  );
}

async function readSecret(key: KeySource): Promise<Buffer> {
  try {
    return await key.get();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const text = `This gateway has no key to share with the other gateways on its database: ${String(error)}. Set storage.key to a reference to that key.`;
    throw new GatewayError('CONFIG_INVALID', text, { cause: error });
  }
}

/** Returns `fleet.listen`. It defaults to the host of the HTTP listener, so that a gateway on loopback stays unreachable from other machines. */
function getListenAddress(
  { http }: Pick<AppOptions, 'http'>,
  config: GatewayConfig,
): { readonly host: string; readonly port: number } {
  if (config.fleet.listen !== undefined) return parseHostAndPort(config.fleet.listen);
  const httpAddress = http === true ? config.http.address : http;
  const host = httpAddress?.includes(':') === true ? parseHostAndPort(httpAddress).host : '';
  return { host: host === '' ? LOOPBACK : host, port: 0 };
}

/** Replaces a wildcard host with an address of this machine that other machines can connect to. */
function toReachableAddress({ host, port }: { readonly host: string; readonly port: number }): {
  readonly host: string;
  readonly port: number;
} {
  if (!WILDCARD_HOSTS.has(host)) return { host, port };
  const addresses = Object.values(networkInterfaces()).flatMap((addressInfos) => addressInfos ?? []);
  const external = addresses.filter(({ internal }) => !internal);
  const best =
    external.find(({ family }) => family === 'IPv4') ?? external.find(({ scopeid }) => scopeid === 0);
  return { host: best?.address ?? LOOPBACK, port };
}
