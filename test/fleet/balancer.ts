import { Agent, type IncomingMessage, type ServerResponse, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Hands each HTTP request to the next gateway, whoever sent it and whatever session it is of; Host stays as the client said it. */
export interface Balancer extends AsyncDisposable {
  readonly url: string;
  /** Which gateway got each request, by its place in the list, oldest first. */
  readonly served: readonly number[];
  /** Gateways that get nothing any more, as one that a health check found not ready. */
  readonly left: Set<number>;
}

/** Only a connection that was refused is tried elsewhere: nothing was sent by then. */
export async function startBalancer(targets: () => readonly string[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: false });
  const served: number[] = [];
  const left = new Set<number>();
  let next = 0;
  const pass = (asked: IncomingMessage, answer: ServerResponse, tries: number): void => {
    const all = targets();
    const open = all.map((_, at) => at).filter((at) => !left.has(at));
    const at = open[next++ % Math.max(1, open.length)];
    const target = at === undefined ? undefined : all[at];
    if (at === undefined || target === undefined || tries > all.length) {
      answer.writeHead(502).end();
      return;
    }
    const { origin } = new URL(target);
    const { method, headers, url } = asked;
    const inner = request(new URL(url ?? '/', origin), { agent, method, headers });
    inner.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      answer.flushHeaders();
      response.on('error', () => answer.destroy());
      response.pipe(answer);
    });
    inner.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') pass(asked, answer, tries + 1);
      else if (answer.headersSent) answer.destroy();
      else answer.writeHead(502).end();
    });
    answer.on('close', () => inner.destroy());
    inner.on('socket', (socket) =>
      socket.once('connect', () => {
        served.push(at);
        asked.pipe(inner);
      }),
    );
  };
  const listener = createServer((asked, answer) => pass(asked, answer, 0));
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  const { port } = listener.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    ...{ served, left },
    async [Symbol.asyncDispose]() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
      agent.destroy();
    },
  };
}
