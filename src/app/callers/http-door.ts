import { join } from 'node:path';
import type { AdminRoutes } from '../../admin/routes.ts';
import type { ConfigSnapshot } from '../../config/config.ts';
import { openDoor } from '../../downstream/door/door.ts';
import type { Door } from '../../downstream/door/door.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { AppOptions } from '../app-options.ts';
import { openAdminDoor } from './admin-door.ts';
import type { Callers } from './callers.ts';

export interface HttpDoor extends Door, Disposable {
  /** Said once it is known. */
  listensAt(url: URL): void;
}

const LOCAL = /^(?:(?:127(?:\.\d{1,3}){3}|localhost|\[::1\]):)?\d{1,5}$/i;
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The door of `serve --http`: for callers as the configuration says, and for the operator. */
export async function openHttpDoor(
  { stateDir, http }: AppOptions,
  { value }: ConfigSnapshot,
  deps: { readonly callers: Callers; readonly admin: () => Promise<AdminRoutes>; readonly log: Logger },
): Promise<HttpDoor> {
  const { callers, admin, log } = deps;
  const address = typeof http === 'string' ? http : value.http.address;
  // Clients compare it to where they found us, and a wildcard is found nowhere.
  if (
    value.auth?.authorizationServer !== undefined &&
    value.http.publicUrl === undefined &&
    !LOCAL.test(address)
  )
    throw new GatewayError(
      'USAGE',
      `The authorization server needs to know its own address on "${address}"; set http.publicUrl, such as "https://mcp.example.com".`,
    );
  let url = new URL('http://127.0.0.1');
  const door = (await callers.door(() => url.origin)) ?? openDoor;
  const operator = await openAdminDoor({ runDir: join(stateDir, 'run'), admin, log });
  return {
    ...door,
    admin: (request, response) => operator.handle(request, response),
    listensAt: (at) => {
      url = at;
      if (!LOOPBACK.test(at.hostname) && value.http.publicUrl?.startsWith('https:') !== true)
        log.warn(
          'Keys and tokens travel in the clear here. Put a proxy with TLS in front, and say so with http.publicUrl.',
          { address: at.host },
        );
    },
    [Symbol.dispose]: () => operator[Symbol.dispose](),
  };
}
