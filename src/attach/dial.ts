import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { GatewayError } from '../model/errors.ts';
import { helloLine, readWelcome } from './hello.ts';
import type { Hello } from './hello.ts';

export interface Dialled {
  /** Paused; what comes from it is MCP. */
  readonly socket: Socket;
  readonly notes: readonly string[];
}

/** A gateway answers at once or is not well. */
const WELCOME_WITHIN_MS = 5000;
const NEWLINE = 10;

/** Opens a pipe to the gateway at this socket; rejects when there is none, or none that takes us. */
export function dial(path: string, hello: Hello): Promise<Dialled> {
  return new Promise<Dialled>((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    const timer = setTimeout(() => fail('it did not answer'), WELCOME_WITHIN_MS);
    let received = Buffer.alloc(0);
    const fail = (reason: string, cause?: unknown): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(new GatewayError('GATEWAY_UNAVAILABLE', `The gateway cannot be reached: ${reason}.`, { cause }));
    };
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const at = received.indexOf(NEWLINE);
      if (at < 0) return;
      clearTimeout(timer);
      const welcome = readWelcome(received.toString('utf8', 0, at));
      if (welcome === undefined) return fail('it speaks another language');
      if (welcome.wrong !== undefined) {
        socket.destroy();
        return reject(new GatewayError('USAGE', welcome.wrong));
      }
      if (welcome.refused !== undefined) return fail(welcome.refused);
      socket.pause();
      socket.off('data', onData).off('error', onError).off('end', onEnd);
      if (at + 1 < received.length) socket.unshift(received.subarray(at + 1));
      resolve({ socket, notes: welcome.notes });
    };
    const onError = (error: Error): void => fail(error.message, error);
    const onEnd = (): void => fail('it closed the connection');
    socket.on('data', onData).on('error', onError).on('end', onEnd);
    socket.write(helloLine(hello));
  });
}
