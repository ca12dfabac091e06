import { createServer } from 'node:tls';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import { GatewayError } from '../../model/errors.ts';
import type { Logger } from '../../observe/log.ts';
import { AnsweringEnd } from './answering-end.ts';
import type { Answering } from './answering-end.ts';
import type { Frame } from './frame.ts';
import { greet, readGreeting } from './greeting.ts';
import { addressText } from './host-and-port.ts';
import { Link } from './link.ts';
import { listenerSecurity } from './security.ts';

interface AcceptOptions {
  readonly self: string;
  readonly key: Buffer;
  readonly host: string;
  readonly port: number;
  readonly maxMessageBytes: number;
  readonly pingMs?: number | undefined;
  readonly answering: Answering;
  readonly log: Logger;
}

export interface Accepting {
  readonly port: number;
  close(): Promise<void>;
}

const PATIENCE_MS = 5000;
const LINGER_MS = 200;
const MAX_CONNECTIONS = 256;
/** Of strangers at the port; the first says that it happens. */
const LOG_EVERY = 100;

/** Listens for other replicas; whoever has not the key gets no further than the handshake. */
export async function accept(options: AcceptOptions): Promise<Accepting> {
  const { host, port, log } = options;
  const links = new Set<Link>();
  const sockets = new Set<Socket>();
  let strangers = 0;
  const server = createServer(
    { ...listenerSecurity(options.key), handshakeTimeout: PATIENCE_MS },
    (socket) => {
      const link = answered(socket, options, () => links.delete(link));
      links.add(link);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  // Those of strangers as well, who would hold up our end for as long as a handshake may take.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', (error, socket) => {
    socket.destroy();
    if (strangers++ % LOG_EVERY !== 0) return;
    const reason = error.message.slice(0, 200);
    log.warn('Refused somebody at the port of the fleet who has not its key.', { strangers, reason });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen(port, host, resolve);
  });
  // Later ones concern single connections, such as too many open files.
  server.on('error', (error) =>
    log.warn('The line between gateways has trouble.', { reason: String(error) }),
  );
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const link of links) link.close(new Error('The gateway is stopping.'));
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, LINGER_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}

function answered(socket: TLSSocket, options: AcceptOptions, onClosed: () => void): Link {
  const { self, maxMessageBytes, answering, log } = options;
  let end: AnsweringEnd | undefined;
  const timer = setTimeout(() => link.close(new Error('It did not greet in time.')), PATIENCE_MS);
  const onFrame = (got: Frame): void => {
    if (end !== undefined) return end.take(got);
    clearTimeout(timer);
    const greeting = readGreeting(got);
    // So that the other end can tell a wrong address from a network that is down.
    greet(link, { from: self });
    if ('problem' in greeting) {
      log.warn('Another gateway of the fleet is not understood.', { reason: greeting.problem });
      return link.close(new Error(greeting.problem));
    }
    if (greeting.to !== self) return link.close(new Error('Another gateway is meant.'));
    link.watch(options.pingMs);
    end = new AnsweringEnd(link, greeting.from, answering);
  };
  const link: Link = new Link({
    ...{ socket, maxMessageBytes, onFrame },
    onClosed: (error) => {
      clearTimeout(timer);
      onClosed();
      end?.lost(error);
    },
  });
  return link;
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): GatewayError {
  const where = addressText(host, port);
  if (error.code === 'EADDRINUSE')
    return new GatewayError(
      'ADDRESS_IN_USE',
      `${where} (fleet.listen) is in use by another program. Choose another port, or 0 for any.`,
      { cause: error },
    );
  const text = `Cannot listen on ${where} (fleet.listen): ${error.message}.`;
  return new GatewayError('USAGE', text, { cause: error });
}
