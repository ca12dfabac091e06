import type { TcpProxy } from '../../support/tcp-proxy.ts';

/** Returns the URL of a database with the port of a proxy that forwards to it. */
export function toProxiedUrl(proxy: TcpProxy, url: string): string {
  const address = new URL(url);
  address.port = new URL(proxy.forwardTo(url)).port;
  return address.href;
}
