import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WebReply } from '../../auth/downstream/web.ts';
import type { Logger } from '../../observe/log.ts';
import { readBody } from '../../wire/http/http-server.ts';
import type { Door } from './door.ts';

const MAX_BODY_BYTES = 64 * 1024;

/** Hands a request for a page to whoever makes it, and its answer back. */
export function servePage(
  pages: NonNullable<Door['pages']>,
  exchange: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly path: string;
    readonly headers: readonly string[];
    readonly log: Logger;
  },
): void {
  const { request, response, path, headers, log } = exchange;
  const reply = ({ status, headers: own, body }: WebReply): void => {
    if (response.destroyed) return;
    const length = ['Content-Length', String(Buffer.byteLength(body))];
    response.writeHead(status, [...own, ...length, ...headers]);
    response.end(body);
  };
  const failed = (status: number): void =>
    reply({ status, headers: ['Content-Type', 'application/json'], body: '{"error":"server_error"}' });
  readBody(request, MAX_BODY_BYTES, {
    refused: () => failed(413),
    read: (body) => {
      const { host = '', origin, cookie, 'content-type': type, 'sec-fetch-site': site } = request.headers;
      const query = new URLSearchParams((request.url ?? '').slice(path.length + 1));
      const { method = '', socket } = request;
      pages
        .answer({
          ...{ method, path, query, body, type, host, origin, cookie, remoteAddress: socket.remoteAddress },
          site: typeof site === 'string' ? site : undefined,
        })
        .then(reply, (error: unknown) => {
          log.error('A page failed.', { path, error: String(error) });
          failed(500);
        });
    },
  });
}
