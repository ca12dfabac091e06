import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '../../../core/errors.ts';
import { closeServer, listenOnLoopback } from './loopback-server.ts';
import { renderResultPage } from './result-page.ts';

export interface LinkServer extends AsyncDisposable {
  /** The link to open; its path is secret. */
  readonly url: string;
}

interface LinkServerOptions {
  /** Starts the sign-in; resolves with the address to redirect the browser to. */
  readonly onVisit: () => Promise<URL>;
  /** The title of the page that is shown if the sign-in cannot start. */
  readonly title: string;
}

/** Serves a link on loopback that starts one sign-in in the browser that opens it. */
export async function openLinkServer(options: LinkServerOptions): Promise<LinkServer> {
  const path = `/sign-in/${randomBytes(24).toString('base64url')}`;
  const server = createServer(
    (request, response) => void handleRequest(request, response, { ...options, path }),
  );
  const port = await listenOnLoopback(server, [0]);
  if (port === undefined)
    throw new GatewayError('ADDRESS_IN_USE', 'No port is free for a sign-in link. Close other programs.');
  return { url: `http://127.0.0.1:${port}${path}`, [Symbol.asyncDispose]: () => closeServer(server) };
}

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { path, onVisit, title }: LinkServerOptions & { readonly path: string },
): Promise<void> {
  if (request.method !== 'GET' || !isEqual(request.url ?? '', path)) {
    response.writeHead(404, { Connection: 'close' }).end();
    return;
  }
  try {
    const { href } = await onVisit();
    response
      .writeHead(303, {
        'Cache-Control': 'no-store',
        'Referrer-Policy': 'no-referrer',
        Connection: 'close',
        Location: href,
      })
      .end();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const { html, headers } = renderResultPage({ title, text, isSuccess: false });
    response.writeHead(502, headers).end(html);
  }
}

/** Compares two texts in constant time, because the path is secret. */
function isEqual(actual: string, expected: string): boolean {
  const [one, other] = [Buffer.from(actual), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
