import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { GatewayError } from '../model/errors.ts';
import type { Locations } from './paths.ts';
import { escapeReferences } from './references.ts';

/** A server that was named on the command line instead of in a configuration. */
export type AdHocServer =
  | { readonly name: string; readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly name: string; readonly command: string; readonly args: readonly string[] };

/** A configuration that exists on the command line only. */
export interface AdHocConfig {
  /** Where a file would lie: relative paths are relative to the folder in which the person is. */
  readonly file: string;
  readonly text: string;
  /** What is remembered belongs to exactly these servers, asked from this folder. */
  readonly stateDir: string;
}

/** The text of a configuration with these servers; what the shell has already expanded is not expanded again. */
export function adHocConfig(
  servers: readonly AdHocServer[],
  { cwd, places }: { readonly cwd: string; readonly places: Locations },
): AdHocConfig {
  if (servers.length === 0) throw new GatewayError('USAGE', 'Name a server: --url URL, or -- COMMAND ARGS…');
  const mcpServers = Object.fromEntries(servers.map((server) => [server.name, entryOf(server, cwd)]));
  const text = JSON.stringify({ mcpServers });
  const hash = createHash('sha256').update(cwd).update('\0').update(text).digest('hex').slice(0, 12);
  return { file: join(cwd, 'command-line'), text, stateDir: join(places.stateDir, 'ad-hoc', hash) };
}

function entryOf(server: AdHocServer, cwd: string): object {
  if ('url' in server) {
    const { url, headers } = server;
    return { url: escapeReferences(url), ...(headers !== undefined && { headers }) };
  }
  return {
    command: escapeReferences(server.command),
    args: server.args.map(escapeReferences),
    cwd: escapeReferences(cwd),
  };
}
