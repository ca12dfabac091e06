import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '../../../model/errors.ts';
import { callbackPage } from './callback-page.ts';
import { closeSoon, listenOnLoopback } from './loopback.ts';

/** What the person reads in the browser once the answer was dealt with. */
interface Verdict {
  readonly title: string;
  readonly text: string;
  readonly isGood: boolean;
}
type Receive = (answer: URLSearchParams) => Promise<Verdict> | Verdict;

export interface CallbackServer extends AsyncDisposable {
  readonly redirectUri: string;
  /** Who deals with answers from now on. */
  receive(receive: Receive): void;
}

const PATH = '/callback';

/** Listens on loopback for the browser to come back: at the preferred port if it is free, else at the first free one of the range. */
export async function openCallbackServer(options: {
  readonly ports: { readonly first: number; readonly last: number };
  readonly preferred?: number | undefined;
}): Promise<CallbackServer> {
  const { first, last } = options.ports;
  const { preferred } = options;
  const isWanted = preferred !== undefined && (first === 0 || (preferred >= first && preferred <= last));
  const range = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const ports = isWanted ? [preferred, ...range.filter((port) => port !== preferred)] : range;
  let receive: Receive | undefined;
  const server = createServer((request, response) => void answer(request, response, () => receive));
  const port = await listenOnLoopback(server, ports);
  if (port === undefined) throw allInUse(ports);
  return {
    // The literal address and not a name: RFC 8252 wants it, and a name could lead elsewhere.
    redirectUri: `http://127.0.0.1:${port}${PATH}`,
    receive: (next) => (receive = next),
    [Symbol.asyncDispose]: () => closeSoon(server),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  receiver: () => Receive | undefined,
): Promise<void> {
  // Whatever runs on this machine can send anything, and not all of it is an address.
  const [path, query = ''] = (request.url ?? '').split('?', 2);
  const receive = receiver();
  if (request.method !== 'GET' || path !== PATH || receive === undefined) {
    response.writeHead(404, { Connection: 'close' }).end();
    return;
  }
  const verdict = await receive(new URLSearchParams(query));
  const { html, headers } = callbackPage(verdict);
  response.writeHead(verdict.isGood ? 200 : 400, headers).end(html);
}

function allInUse(ports: readonly number[]): GatewayError {
  const [first, last] = [ports[0], ports.at(-1)];
  const which = first === last ? `Port ${first} is` : `The ports ${first} to ${last} are all`;
  return new GatewayError(
    'ADDRESS_IN_USE',
    `${which} in use, and the browser has to come back to one. Free one, or set "auth.callbackPort" to others or to "any".`,
  );
}
