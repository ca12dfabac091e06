import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

export interface TcpProxy extends AsyncDisposable {
  /** Sets the target, and returns the URL that clients use instead. */
  forwardTo(url: string): string;
  /** Resets every connection, like a failing network; accepts new ones. */
  cut(): void;
  /** Stops forwarding on open connections without closing them. */
  stall(): void;
}

/** Starts a proxy between a client and a server that can cut their connections while both keep running. */
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
