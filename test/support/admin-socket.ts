import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';

interface SocketResponse {
  readonly status: number;
  // Tests check the body themselves.
  readonly body: unknown;
  readonly text: string;
}

/** Sends a request to the admin API over the socket of a gateway, as a program of this user or (`isPerson`) as a person at a terminal. */
export async function requestOverSocket(
  socketPath: string,
  route: string,
  options: { readonly body?: unknown; readonly isPerson?: boolean } = {},
): Promise<SocketResponse> {
  const [method = 'GET', path = ''] = route.split(' ');
  const { body, isPerson = false } = options;
  const sent = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(sent)),
    ...(isPerson && { 'x-trunkline-person': '1' }),
  };
  const asked = request({ socketPath, method, path, headers }).end(sent);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  return { status: response.statusCode ?? 0, body: JSON.parse(text), text };
}
