import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AdminEndpoint } from '../admin/admin-endpoint.ts';
import { hostCheck } from '../downstream/http/host-check.ts';
import { listen } from '../downstream/http/listen.ts';
import type { HttpListener } from '../downstream/http/listen.ts';
import type { Logger } from '../observability/log.ts';

interface DashboardListenerOptions {
  readonly port: number;
  readonly endpoint: AdminEndpoint;
  /** Keeps the gateway running until the result is disposed. */
  readonly keepRunning: () => Disposable;
  readonly log: Logger;
}

/** Serves the dashboard on loopback, without MCP. The gateway keeps running while a browser is connected. */
export function openDashboardListener(options: DashboardListenerOptions): Promise<HttpListener> {
  const { port, endpoint, keepRunning, log } = options;
  const check = hostCheck({ allowedHosts: [], allowedOrigins: [] });
  // The connections that already keep the gateway running.
  const connections = new WeakSet<object>();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket, headers, url = '' } = request;
    if (!connections.has(socket)) {
      connections.add(socket);
      const running = keepRunning();
      socket.once('close', () => running[Symbol.dispose]());
    }
    const [path = ''] = url.split('?', 1);
    const problem = check.findForbiddenHeader(headers.host, headers.origin, socket);
    if (problem === undefined && (endpoint.canHandle(path) || endpoint.hasNotFoundPage(request)))
      return endpoint.handle(request, response);
    response.writeHead(problem === undefined ? 404 : 403, ['Content-Type', 'text/plain']);
    response.end(problem === undefined ? 'Not found.\n' : 'This Host or Origin is not allowed.\n');
  };
  return listen({ address: `127.0.0.1:${port}`, routes: { handle }, log });
}
