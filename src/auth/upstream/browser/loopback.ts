import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens at the first of these ports that is free, for this machine only; undefined where none is. */
export async function listenOnLoopback(
  server: Server,
  ports: readonly number[],
): Promise<number | undefined> {
  server.maxConnections = 16;
  server.headersTimeout = 10_000;
  for (const port of ports) {
    const isFree = await new Promise<boolean>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        server.removeAllListeners('listening');
        if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
        else reject(error);
      });
      server.listen(port, '127.0.0.1', () => {
        server.removeAllListeners('error');
        resolve(true);
      });
    });
    if (isFree) return (server.address() as AddressInfo).port; // It listens at an address and not at a path.
  }
  return undefined;
}

/** A page that was just written leaves by itself; a socket that a browser keeps open is not waited for. */
export function closeSoon(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}
