import { connect } from 'node:tls';

import type { Frame } from './frame.ts';
import { parseHandshake, sendHandshake } from './handshake.ts';
import { parseHostAndPort } from './host-and-port.ts';
import { OutgoingRequests } from './outgoing-requests.ts';
import { ReplicaConnection } from './replica-connection.ts';
import { clientTlsOptions } from './tls-options.ts';

export interface OutgoingConnection {
  readonly requests: OutgoingRequests;
  readonly connection: ReplicaConnection;
}

interface ConnectOptions {
  /** The id of this replica. */
  readonly from: string;
  /** The id of the replica that is expected at the address. */
  readonly to: string;
  readonly address: string;
  readonly key: Buffer;
  readonly maxMessageBytes: number;
  readonly pingMs?: number | undefined;
  /** Called when an established connection is lost, before its pending requests fail. */
  readonly onLost: (connection: OutgoingConnection) => void;
}

/** Limits the whole attempt: TCP, TLS and the handshake between replicas. */
const CONNECT_TIMEOUT_MS = 5000;

/** Connects to a replica. Rejects unless the other end proves that it has the key and is the expected replica. */
export function connectToReplica(options: ConnectOptions): Promise<OutgoingConnection> {
  const { from, to, key, maxMessageBytes, onLost } = options;
  return new Promise<OutgoingConnection>((resolve, reject) => {
    const socket = connect({ ...parseHostAndPort(options.address), ...clientTlsOptions(key) });
    const timer = setTimeout(
      () => connection.close(new Error(`It did not respond within ${CONNECT_TIMEOUT_MS / 1000} s.`)),
      CONNECT_TIMEOUT_MS,
    );
    let established: OutgoingConnection | undefined;
    const onFrame = (frame: Frame): void => {
      if (established !== undefined) return established.requests.handleFrame(frame);
      const handshake = parseHandshake(frame);
      if ('problem' in handshake) return connection.close(new Error(handshake.problem));
      if (handshake.from !== to)
        return connection.close(new Error('Another gateway now listens on its address.'));
      clearTimeout(timer);
      connection.startPings(options.pingMs);
      established = { requests: new OutgoingRequests(connection, to), connection };
      resolve(established);
    };
    const onClosed = (error: Error): void => {
      clearTimeout(timer);
      if (established === undefined) return reject(error);
      onLost(established);
      established.requests.handleDisconnect(error);
    };
    const connection = new ReplicaConnection({ socket, maxMessageBytes, onFrame, onClosed });
    socket.once('secureConnect', () => sendHandshake(connection, { from, to }));
  });
}
