import type { TcpProxy } from '../support/tcp-proxy.ts';

/** The address of a database for those who are to reach it through a proxy. */
export function proxied(proxy: TcpProxy, url: string): string {
  const address = new URL(url);
  address.port = new URL(proxy.lead(url)).port;
  return address.href;
}
