import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { GatewayError } from '../../core/errors.ts';

/** Returns a function like `fetch` whose requests go to the gateway that listens on this socket. */
export function createSocketFetch(socketPath: string): (request: Request) => Promise<Response> {
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
          // The stream yields bytes, which the return type of `toWeb` does not express.
          const stream = Readable.toWeb(
            Readable.from(readBody(incoming, request.signal)),
          ) as ReadableStream<Uint8Array>;
          resolve(new Response(stream, { status: incoming.statusCode ?? 500, headers }));
        },
      );
      outgoing.on('error', (error) => {
        reject(request.signal.aborted ? createCancelledError() : createUnreachableError(error));
      });
      outgoing.end(body);
    });
  };
}

/** Yields the response body. Translates errors in the middle of a response into gateway errors. */
async function* readBody(incoming: IncomingMessage, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of incoming) yield chunk as Buffer; // Chunks are buffers, because no encoding was set.
  } catch (error) {
    if (signal.aborted) throw createCancelledError();
    throw new GatewayError('GATEWAY_LOST', 'The gateway stopped before it had answered.', { cause: error });
  }
}

function createCancelledError(): GatewayError {
  return new GatewayError('CALL_CANCELLED', 'The request was cancelled.');
}

function createUnreachableError(cause: Error): GatewayError {
  return new GatewayError('GATEWAY_UNAVAILABLE', `The gateway cannot be reached: ${cause.message}.`, {
    cause,
  });
}
