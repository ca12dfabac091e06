import { basename } from 'node:path';

/** Returns the name of a command-line server in messages: its host without credentials, or its program. */
export function adHocServerName(server: { readonly url: string } | { readonly command: string }): string {
  const name =
    'url' in server
      ? server.url.replace(/^\w+:\/\/(?:[^/@]*@)?([^/?#]*).*$/s, '$1')
      : basename(server.command);
  return name.replaceAll(/\p{Cc}/gu, '').slice(0, 64) || 'server';
}
