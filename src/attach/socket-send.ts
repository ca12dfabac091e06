import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { GatewayError } from '../model/errors.ts';

/** Sends requests to the gateway that listens on this socket. */
export function socketSend(socketPath: string): (request: Request) => Promise<Response> {
  return async (request) => {
    const url = new URL(request.url);
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    return new Promise<Response>((resolve, reject) => {
      const outgoing = httpRequest(
        {
          socketPath,
          path: url.pathname + url.search,
          method: request.method,
          headers: { ...Object.fromEntries(request.headers), ...(body && { 'content-length': body.length }) },
          signal: request.signal,
          agent: false,
        },
        (incoming) => {
          const headers = new Headers();
          for (const [name, value] of Object.entries(incoming.headers))
            if (typeof value === 'string') headers.set(name, value);
          // The stream is one of bytes, which its general type does not say.
          const stream = Readable.toWeb(
            Readable.from(bytesOf(incoming, request.signal)),
          ) as ReadableStream<Uint8Array>;
          resolve(new Response(stream, { status: incoming.statusCode ?? 500, headers }));
        },
      );
      outgoing.on('error', (error) => {
        const reason = request.signal.aborted ? cancelled() : unreachable(error);
        reject(reason);
      });
      outgoing.end(body);
    });
  };
}

/** Errors in words of ours, also in the middle of an answer. */
async function* bytesOf(incoming: IncomingMessage, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of incoming) yield chunk as Buffer; // No encoding was set.
  } catch (error) {
    if (signal.aborted) throw cancelled();
    throw new GatewayError('GATEWAY_LOST', 'The gateway ended before it had answered.', { cause: error });
  }
}

function cancelled(): GatewayError {
  return new GatewayError('CALL_CANCELLED', 'The request was given up.');
}

function unreachable(cause: Error): GatewayError {
  return new GatewayError('GATEWAY_UNAVAILABLE', `The gateway cannot be reached: ${cause.message}.`, {
    cause,
  });
}
