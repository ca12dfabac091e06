import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

export interface TcpProxy extends AsyncDisposable {
  /** Says where to, and gives what a client is told instead of that address. */
  forwardTo(url: string): string;
  /** Breaks every connection as a failing network does; new ones are welcome. */
  cut(): void;
  /** Passes nothing on any more on what is open, without a word. */
  stall(): void;
}

/** Stands between a client and an HTTP server and can be cut, while both live on. */
export async function startTcpProxy(): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let target: URL | undefined;
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  const listener = createServer((near) => {
    if (target === undefined) {
      near.destroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    keep(near, far);
    keep(far, near);
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  const { port } = listener.address() as AddressInfo;
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    forwardTo(url) {
      target = new URL(url);
      return `http://127.0.0.1:${port}${target.pathname}`;
    },
    cut,
    stall() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
