import type { Socket } from 'node:net';

import type { ClientBase } from 'pg';

/** The time after which the sockets are destroyed. */
const GRACE_MS = 2000;

/** Waits for `ending`. If the server does not answer in time, destroys the sockets of the clients. Never rejects. */
export async function endClients(ending: Promise<void>, clients: Iterable<ClientBase>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      for (const client of clients) socketOf(client)?.destroy();
      resolve();
    }, GRACE_MS);
  });
  await Promise.race([ending.catch(() => {}), late]); // A failure does no harm, because the server notices closed connections.
  clearTimeout(timer);
}

/** Reads a field that is missing in the types of `pg`. */
function socketOf(client: ClientBase): Socket | undefined {
  return (client as { readonly connection?: { readonly stream?: Socket } }).connection?.stream;
}
