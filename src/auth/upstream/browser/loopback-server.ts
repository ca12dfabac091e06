import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on loopback at the first free port and returns the port. Returns undefined if none is free. */
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
    if (isFree) return (server.address() as AddressInfo).port; // The server listens on an address, not on a path.
  }
  return undefined;
}

/** Closes the server. Responses may take half a second to finish; then all connections are closed, because browsers keep them open. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}
