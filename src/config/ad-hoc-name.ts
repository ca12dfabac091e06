import { basename } from 'node:path';

/** What a server of the command line is called in messages about it: its host, without credentials, or its program. */
export function adHocName(server: { readonly url: string } | { readonly command: string }): string {
  const name =
    'url' in server
      ? server.url.replace(/^\w+:\/\/(?:[^/@]*@)?([^/?#]*).*$/s, '$1')
      : basename(server.command);
  return name.replaceAll(/\p{Cc}/gu, '').slice(0, 64) || 'server';
}
