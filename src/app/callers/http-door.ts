import type { ConfigSnapshot, GatewayConfig } from '../../config/config.ts';
import { openDoor } from '../../downstream/door/door.ts';
import type { Door } from '../../downstream/door/door.ts';
import { isUnwritable } from '../../lib/is-unwritable.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { AppOptions } from '../app-options.ts';
import type { Callers } from './callers.ts';
import type { Dashboard } from './dashboard.ts';

export interface HttpDoor extends Door {
  /** Said once it is known. */
  listensAt(url: URL): void;
  /** Makes a door for another configuration, or throws; what it gives puts that in place. */
  prepare(next: ConfigSnapshot): Promise<() => void>;
}

const LOCAL = /^(?:(?:127(?:\.\d{1,3}){3}|localhost|\[::1\]):)?\d{1,5}$/i;
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The door of `serve --http`: for callers as the configuration says, and for the operator. */
export async function openHttpDoor(
  { http }: AppOptions,
  { value }: ConfigSnapshot,
  deps: { readonly callers: Callers; readonly dashboard: Dashboard; readonly log: Logger },
): Promise<HttpDoor> {
  const { callers, dashboard, log } = deps;
  const address = typeof http === 'string' ? http : value.http.address;
  let url = new URL('http://127.0.0.1');
  const doorOf = async (config: GatewayConfig): Promise<Door> => {
    checkOwnName(config, address);
    return (await callers.door(config, () => url.origin)) ?? openDoor;
  };
  let door = await doorOf(value);
  // Its key is in a file; without one nobody could show it.
  const admin = await dashboard.door().catch((error: unknown) => {
    if (!isUnwritable(error)) throw error;
    log.warn('There is no admin API and no dashboard, since nothing can be written to the state folder.', {
      reason: String(error),
    });
  });
  return {
    authenticate: (request) => door.authenticate(request),
    get resource() {
      return door.resource;
    },
    get pages() {
      return door.pages;
    },
    get isOpen() {
      return door.isOpen === true;
    },
    events: callers.events,
    onRefused: (refused) => door.onRefused?.(refused),
    prepare: async (next) => {
      // Whoever is let in without a question is on this machine.
      if (next.value.auth === undefined && !LOOPBACK.test(url.hostname))
        throw new GatewayError(
          'CONFIG_INVALID',
          `${next.file}: "auth" cannot be taken away while the gateway listens on ${url.host}, where others could reach every tool; put it back, or start the gateway again on 127.0.0.1`,
          { details: { file: next.file } },
        );
      const made = await doorOf(next.value);
      return () => void (door = made);
    },
    ...(admin && { admin }),
    listensAt: (at) => {
      url = at;
      dashboard.listensAt(at);
      if (!LOOPBACK.test(at.hostname) && value.http.publicUrl?.startsWith('https:') !== true)
        log.warn(
          'Keys and tokens travel in the clear here. Put a proxy with TLS in front, and say so with http.publicUrl.',
          { address: at.host },
        );
    },
  };
}

/** Clients compare it to where they found us, and a wildcard is found nowhere. */
function checkOwnName({ auth, http }: GatewayConfig, address: string): void {
  if (auth?.authorizationServer === undefined || http.publicUrl !== undefined || LOCAL.test(address)) return;
  throw new GatewayError(
    'USAGE',
    `The authorization server needs to know its own address on "${address}"; set http.publicUrl, such as "https://mcp.example.com".`,
  );
}
