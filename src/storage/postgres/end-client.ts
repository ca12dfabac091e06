import type { Socket } from 'node:net';

import type { ClientBase } from 'pg';

const GRACE_MS = 2000;

/** Resolves when `ending` is over, or soon after: a server that does not answer is not waited for. Never rejects. */
export async function endClients(ending: Promise<void>, clients: Iterable<ClientBase>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      for (const client of clients) socketOf(client)?.destroy();
      resolve();
    }, GRACE_MS);
  });
  await Promise.race([ending.catch(() => {}), late]); // The server notices the end of a connection.
  clearTimeout(timer);
}

/** What the types of `pg` do not tell. */
function socketOf(client: ClientBase): Socket | undefined {
  return (client as { readonly connection?: { readonly stream?: Socket } }).connection?.stream;
}
