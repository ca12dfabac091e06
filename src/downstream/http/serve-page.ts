import type { WebResponse } from '../../auth/downstream/web-request.ts';
import type { Logger } from '../../observability/log.ts';
import { readBody } from '../../protocol/http/http-io.ts';
import type { WebPages } from './http-auth.ts';
import type { HttpExchange } from './http-exchange.ts';

const MAX_BODY_BYTES = 64 * 1024;

/** Answers a request for a page of the authorization server. */
export function servePage(pages: WebPages, exchange: HttpExchange, log: Logger): void {
  const { request, path } = exchange;
  readBody(request, MAX_BODY_BYTES, {
    onProblem: () => sendServerError(exchange, 413),
    onText: (body) => {
      const { host = '', origin, cookie, 'content-type': type } = request.headers;
      const { 'sec-fetch-site': site, 'sec-fetch-dest': destination } = request.headers;
      const { method = '', url = '', socket } = request;
      pages
        .answer({
          method,
          path,
          query: new URLSearchParams(url.slice(path.length + 1)),
          body,
          type,
          host,
          origin,
          cookie,
          remoteAddress: socket.remoteAddress,
          site: typeof site === 'string' ? site : undefined,
          destination: typeof destination === 'string' ? destination : undefined,
        })
        .then(
          (page) => sendPage(exchange, page),
          (error: unknown) => {
            log.error('A page of the authorization server failed.', { path, error: String(error) });
            sendServerError(exchange, 500);
          },
        );
    },
  });
}

function sendPage({ response, headers }: HttpExchange, page: WebResponse): void {
  if (response.destroyed) return;
  const { status, body } = page;
  const length = ['Content-Length', String(Buffer.byteLength(body))];
  response.writeHead(status, [...page.headers, ...length, ...headers]);
  response.end(body);
}

function sendServerError(exchange: HttpExchange, status: number): void {
  const headers = ['Content-Type', 'application/json'];
  sendPage(exchange, { status, headers, body: '{"error":"server_error"}' });
}
