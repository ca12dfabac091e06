import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostCheck } from '../../downstream/host-check.ts';
import { listen } from '../../downstream/listen.ts';
import type { Listener } from '../../downstream/listen.ts';
import type { Logger } from '../../observe/log.ts';
import type { AdminDoor } from './admin-door.ts';

interface ListenerOptions {
  readonly port: number;
  readonly door: AdminDoor;
  readonly stay: () => Disposable;
  readonly log: Logger;
}

/** Serves the dashboard on this machine, and nothing else: no MCP client is let in here. */
export function openDashboardListener({ port, door, stay, log }: ListenerOptions): Promise<Listener> {
  const check = hostCheck({ allowedHosts: [], allowedOrigins: [] });
  const staying = new WeakSet<object>();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket, headers, url = '' } = request;
    if (!staying.has(socket)) {
      staying.add(socket);
      const held = stay();
      socket.once('close', () => held[Symbol.dispose]());
    }
    const [path = ''] = url.split('?', 1);
    const problem = check.problem(headers.host, headers.origin, socket);
    if (problem === undefined && door.takes(path)) return door.handle(request, response);
    response.writeHead(problem === undefined ? 404 : 403, ['Content-Type', 'text/plain']);
    response.end(
      problem === undefined ? 'There is nothing here.\n' : 'This Host or Origin is not allowed.\n',
    );
  };
  return listen({ address: `127.0.0.1:${port}`, routes: { handle }, log });
}
