import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { GatewayError } from '../../core/errors.ts';
import type { DifferingVariable } from './client-variables.ts';
import { parseHelloReply, serializeHello } from './pipe-handshake.ts';
import type { ClientHello } from './pipe-handshake.ts';

/** An open connection to a gateway after the handshake. */
export interface GatewayPipe {
  /** The socket, which is paused. All data that follows is MCP. */
  readonly socket: Socket;
  /** Messages for the user of the client. */
  readonly notes: readonly string[];
  /** The variables of the client of which the gateway uses another value. */
  readonly differing: readonly DifferingVariable[];
}

/** Maximum time to wait for the reply. A healthy gateway replies at once. */
const REPLY_TIMEOUT_MS = 5000;
const NEWLINE = 10;

/** Opens a pipe to the gateway that listens on this socket. Rejects if no gateway answers there or if it does not accept the client. */
export function connectToGateway(path: string, hello: ClientHello): Promise<GatewayPipe> {
  return new Promise<GatewayPipe>((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    const timer = setTimeout(
      () => fail(`it did not answer within ${REPLY_TIMEOUT_MS / 1000} s`),
      REPLY_TIMEOUT_MS,
    );
    let received = Buffer.alloc(0);
    const fail = (reason: string, cause?: unknown): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(new GatewayError('GATEWAY_UNAVAILABLE', `The gateway cannot be reached: ${reason}.`, { cause }));
    };
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const lineEnd = received.indexOf(NEWLINE);
      if (lineEnd < 0) return;
      clearTimeout(timer);
      const reply = parseHelloReply(received.toString('utf8', 0, lineEnd));
      if (reply === undefined) return fail('it uses an unknown protocol');
      if (reply.wrong !== undefined) {
        socket.destroy();
        return reject(new GatewayError('USAGE', reply.wrong));
      }
      if (reply.refused !== undefined) return fail(reply.refused);
      socket.pause();
      socket.off('data', onData).off('error', onError).off('end', onEnd);
      if (lineEnd + 1 < received.length) socket.unshift(received.subarray(lineEnd + 1));
      // Only names that this client sent are of interest to its user.
      const differing = (reply.differing ?? []).filter(({ name }) =>
        Object.hasOwn(hello.variables ?? {}, name),
      );
      resolve({ socket, notes: reply.notes, differing });
    };
    const onError = (error: Error): void => fail(error.message, error);
    const onEnd = (): void => fail('it closed the connection');
    socket.on('data', onData).on('error', onError).on('end', onEnd);
    socket.write(serializeHello(hello));
  });
}
