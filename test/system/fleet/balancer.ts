import { Agent, type IncomingMessage, type ServerResponse, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Forwards each HTTP request to the next gateway, regardless of its client and session. The Host header stays unchanged. */
export interface Balancer extends AsyncDisposable {
  readonly url: string;
  /** The index of the gateway that received each request, oldest first. */
  readonly served: readonly number[];
  /** The indexes of gateways that receive no requests, for example because a health check failed. */
  readonly excluded: Set<number>;
}

/** A request is sent to another gateway only if the connection was refused, because nothing was sent in that case. */
export async function startBalancer(targets: () => readonly string[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: false });
  const served: number[] = [];
  const excluded = new Set<number>();
  let next = 0;
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse, tries: number): void => {
    const urls = targets();
    const included = urls.map((_, at) => at).filter((at) => !excluded.has(at));
    const at = included[next++ % Math.max(1, included.length)];
    const target = at === undefined ? undefined : urls[at];
    if (at === undefined || target === undefined || tries > urls.length) {
      outgoing.writeHead(502).end();
      return;
    }
    const { origin } = new URL(target);
    const { method, headers, url } = incoming;
    const inner = request(new URL(url ?? '/', origin), { agent, method, headers });
    inner.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      outgoing.flushHeaders();
      response.on('error', () => outgoing.destroy());
      response.pipe(outgoing);
    });
    inner.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') forward(incoming, outgoing, tries + 1);
      else if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end();
    });
    outgoing.on('close', () => inner.destroy());
    inner.on('socket', (socket) =>
      socket.once('connect', () => {
        served.push(at);
        incoming.pipe(inner);
      }),
    );
  };
  // A restart of a gateway can take longer than the default of 5 s, and a client that then reuses its connection gets "socket hang up".
  const keepAliveTimeout = 600_000;
  const listener = createServer({ keepAliveTimeout }, (incoming, outgoing) => forward(incoming, outgoing, 0));
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  const { port } = listener.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    served,
    excluded,
    async [Symbol.asyncDispose]() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
      agent.destroy();
    },
  };
}
