import { createServer } from 'node:tls';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import { GatewayError } from '../../core/errors.ts';
import type { Logger } from '../../observability/log.ts';
import { ReplicaProtocolError } from './frame.ts';
import type { Frame } from './frame.ts';
import { parseHandshake, sendHandshake } from './handshake.ts';
import { formatHostAndPort } from './host-and-port.ts';
import { IncomingRequests } from './incoming-requests.ts';
import type { IncomingHandlers } from './incoming-requests.ts';
import { ReplicaConnection } from './replica-connection.ts';
import { listenerTlsOptions } from './tls-options.ts';

export interface ReplicaListener {
  readonly port: number;
  close(): Promise<void>;
}

interface ListenerOptions {
  /** The id of this replica. */
  readonly self: string;
  readonly key: Buffer;
  readonly host: string;
  readonly port: number;
  readonly maxMessageBytes: number;
  readonly pingMs?: number | undefined;
  readonly handlers: IncomingHandlers;
  readonly log: Logger;
}

/** Limits the TLS handshake, and then the wait for the first frame. */
const HANDSHAKE_TIMEOUT_MS = 5000;
/** After this time a closing listener destroys the sockets that are still open. */
const DESTROY_AFTER_MS = 200;
const MAX_CONNECTIONS = 256;
/**
 * The maximum number of connections that have not yet proved that they have the key. A further connection closes the oldest of them, so
 * that clients without the key cannot keep replicas out.
 */
const MAX_UNAUTHENTICATED = 128;
/** One of this many rejected connections is logged, starting with the first. */
const LOG_EVERY_REJECTED = 100;

/** Listens for other replicas. A client without the key cannot get beyond the TLS handshake. */
export async function listenForReplicas(options: ListenerOptions): Promise<ReplicaListener> {
  const { host, port, log } = options;
  const connections = new Set<ReplicaConnection>();
  const sockets = new Set<Socket>();
  const unauthenticated = new Map<string, Socket>();
  let rejectedCount = 0;
  const server = createServer(
    { ...listenerTlsOptions(options.key), handshakeTimeout: HANDSHAKE_TIMEOUT_MS },
    (socket) => {
      unauthenticated.delete(remoteEndOf(socket));
      const connection = acceptConnection(socket, options, () => connections.delete(connection));
      connections.add(connection);
    },
  );
  server.maxConnections = MAX_CONNECTIONS + MAX_UNAUTHENTICATED;
  // `sockets` includes unauthenticated ones, because each of them could delay `close` by up to the handshake timeout.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    const remoteEnd = remoteEndOf(socket);
    unauthenticated.set(remoteEnd, socket);
    socket.once('close', () => {
      sockets.delete(socket);
      if (unauthenticated.get(remoteEnd) === socket) unauthenticated.delete(remoteEnd);
    });
    const [oldest] = unauthenticated.size > MAX_UNAUTHENTICATED ? unauthenticated : [];
    if (oldest === undefined) return;
    unauthenticated.delete(oldest[0]);
    oldest[1].destroy();
  });
  server.on('tlsClientError', (error, socket) => {
    socket.destroy();
    if (rejectedCount++ % LOG_EVERY_REJECTED !== 0) return;
    const reason = error.message.slice(0, 200);
    log.warn('Rejected a connection to the fleet port, because it does not have the key of the fleet.', {
      count: rejectedCount,
      reason,
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(createListenError(error, host, port)));
    server.listen(port, host, resolve);
  });
  // Errors after the start concern single connections, for example if too many files are open.
  server.on('error', (error) => log.warn('The fleet port reported an error.', { reason: String(error) }));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const connection of connections) connection.close(new Error('The gateway is stopping.'));
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, DESTROY_AFTER_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Returns a key for a connection. The TLS socket and the TCP socket below it have the same remote end, and so the same key. */
function remoteEndOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Waits for the handshake of an authenticated connection, and then handles its requests. */
function acceptConnection(
  socket: TLSSocket,
  options: ListenerOptions,
  onClosed: () => void,
): ReplicaConnection {
  const { self, maxMessageBytes, handlers, log } = options;
  let requests: IncomingRequests | undefined;
  const timer = setTimeout(
    () => connection.close(new Error('The other gateway did not send its handshake in time.')),
    HANDSHAKE_TIMEOUT_MS,
  );
  const onFrame = (frame: Frame): void => {
    if (requests !== undefined) return requests.handleFrame(frame);
    clearTimeout(timer);
    const handshake = parseHandshake(frame);
    // The response is sent in every case, so the other end can distinguish a wrong address from an unreachable network.
    sendHandshake(connection, { from: self });
    if ('problem' in handshake) {
      log.warn('The handshake with another gateway of the fleet failed.', { reason: handshake.problem });
      return connection.close(new Error(handshake.problem));
    }
    if (handshake.from === self)
      return connection.close(new ReplicaProtocolError('The other gateway uses the id of this one.'));
    if (handshake.to !== self)
      return connection.close(new Error('The other gateway expects another gateway at this address.'));
    connection.startPings(options.pingMs);
    requests = new IncomingRequests(connection, handshake.from, handlers);
  };
  const connection: ReplicaConnection = new ReplicaConnection({
    socket,
    maxMessageBytes,
    onFrame,
    onClosed: (error) => {
      clearTimeout(timer);
      onClosed();
      if (error instanceof ReplicaProtocolError)
        log.warn('Closed a connection of another gateway of the fleet.', { reason: error.message });
      requests?.handleDisconnect(error);
    },
  });
  return connection;
}

function createListenError(error: NodeJS.ErrnoException, host: string, port: number): GatewayError {
  const address = formatHostAndPort(host, port);
  if (error.code === 'EADDRINUSE')
    return new GatewayError(
      'ADDRESS_IN_USE',
      `${address} (fleet.listen) is in use by another program. Choose another port, or 0 for any.`,
      { cause: error },
    );
  const text = `Cannot listen on ${address} (fleet.listen): ${error.message}.`;
  return new GatewayError('USAGE', text, { cause: error });
}
