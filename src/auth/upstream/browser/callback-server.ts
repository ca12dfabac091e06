import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '../../../core/errors.ts';
import { closeServer, listenOnLoopback } from './loopback-server.ts';
import { renderResultPage } from './result-page.ts';
import type { ResultPage } from './result-page.ts';

type CallbackHandler = (parameters: URLSearchParams) => Promise<ResultPage> | ResultPage;

export interface CallbackServer extends AsyncDisposable {
  readonly redirectUri: string;
  /** Sets the handler of callbacks. Until then, callbacks get 404. */
  setHandler(handler: CallbackHandler): void;
}

const PATH = '/callback';

/** Listens on loopback until the browser returns: on the preferred port if it is free, or else on the first free port of the range. */
export async function openCallbackServer(options: {
  readonly ports: { readonly first: number; readonly last: number };
  readonly preferred: number | undefined;
}): Promise<CallbackServer> {
  const { first, last } = options.ports;
  const { preferred } = options;
  const isAllowed = preferred !== undefined && (first === 0 || (preferred >= first && preferred <= last));
  const range = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const ports = isAllowed ? [preferred, ...range.filter((port) => port !== preferred)] : range;
  let handler: CallbackHandler | undefined;
  const server = createServer((request, response) => void handleRequest(request, response, handler));
  const port = await listenOnLoopback(server, ports);
  if (port === undefined) throw portsInUse(ports);
  return {
    // RFC 8252 requires the literal address; a name could resolve to another machine.
    redirectUri: `http://127.0.0.1:${port}${PATH}`,
    setHandler: (next) => (handler = next),
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  handler: CallbackHandler | undefined,
): Promise<void> {
  // The URL is split without `URL`, which throws for some paths that any program on this machine can send.
  const [path, query = ''] = (request.url ?? '').split('?', 2);
  if (request.method !== 'GET' || path !== PATH || handler === undefined) {
    response.writeHead(404, { Connection: 'close' }).end();
    return;
  }
  const page = await handler(new URLSearchParams(query));
  const { html, headers } = renderResultPage(page);
  response.writeHead(page.isSuccess ? 200 : 400, headers).end(html);
}

function portsInUse(ports: readonly number[]): GatewayError {
  const [first, last] = [ports[0], ports.at(-1)];
  const which = first === last ? `Port ${first} is` : `The ports ${first} to ${last} are all`;
  return new GatewayError(
    'ADDRESS_IN_USE',
    `${which} in use, but the browser must return to one of them. Free one, or set "auth.callbackPort" to another range or to "any".`,
  );
}
