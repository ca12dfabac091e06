import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '../../../model/errors.ts';
import { callbackPage } from './callback-page.ts';
import { closeSoon, listenOnLoopback } from './loopback.ts';

export interface StartServer extends AsyncDisposable {
  /** What a person opens; only whoever was given it knows it. */
  readonly url: string;
}

/** Where a browser on this machine begins one sign-in: whoever opens the link is sent on to where `visit` says. */
export async function openStartServer(options: {
  readonly visit: () => Promise<URL>;
  /** For the page that is shown when it fails. */
  readonly title: string;
}): Promise<StartServer> {
  const path = `/sign-in/${randomBytes(24).toString('base64url')}`;
  const server = createServer((request, response) => void answer(request, response, { path, ...options }));
  const port = await listenOnLoopback(server, [0]);
  if (port === undefined)
    throw new GatewayError('ADDRESS_IN_USE', 'No port is free for the link to a sign-in.');
  return { url: `http://127.0.0.1:${port}${path}`, [Symbol.asyncDispose]: () => closeSoon(server) };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { path, visit, title }: { readonly path: string } & Parameters<typeof openStartServer>[0],
): Promise<void> {
  if (request.method !== 'GET' || !isSame(request.url ?? '', path)) {
    response.writeHead(404, { Connection: 'close' }).end();
    return;
  }
  try {
    const Location = (await visit()).href;
    response.writeHead(303, { ...UNSEEN, Location }).end();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const { html, headers } = callbackPage({ title, text, isGood: false });
    response.writeHead(502, headers).end(html);
  }
}

const UNSEEN = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', Connection: 'close' };

function isSame(given: string, wanted: string): boolean {
  const [one, two] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === two.length && timingSafeEqual(one, two);
}
