import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { GatewayError } from '../core/errors.ts';
import type { Locations } from './find-config.ts';
import { escapeReferences } from './resolve-references.ts';

/** A server that was named on the command line instead of in a configuration. */
export type AdHocServer =
  | {
      readonly name: string;
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    }
  | { readonly name: string; readonly command: string; readonly args: readonly string[] };

/** A configuration that exists on the command line only. */
export interface AdHocConfig {
  /** A path in the working directory, so that this directory is the base of relative paths. The file does not exist. */
  readonly file: string;
  readonly text: string;
  /** Holds the state of exactly these servers in this working directory. */
  readonly stateDir: string;
}

/** Creates a configuration with these servers. References are escaped, because the shell has already expanded the arguments. */
export function createAdHocConfig(
  servers: readonly AdHocServer[],
  { cwd, locations }: { readonly cwd: string; readonly locations: Locations },
): AdHocConfig {
  if (servers.length === 0) {
    throw new GatewayError('USAGE', 'No server was named; add --url URL, or -- COMMAND ARGS…');
  }
  const mcpServers = Object.fromEntries(servers.map((server) => [server.name, createEntry(server, cwd)]));
  const text = JSON.stringify({ mcpServers });
  const hash = createHash('sha256').update(cwd).update('\0').update(text).digest('hex').slice(0, 12);
  return { file: join(cwd, 'command-line'), text, stateDir: join(locations.stateDir, 'ad-hoc', hash) };
}

function createEntry(server: AdHocServer, cwd: string): object {
  if ('url' in server) return { url: escapeReferences(server.url), headers: server.headers };
  return {
    command: escapeReferences(server.command),
    args: server.args.map(escapeReferences),
    cwd: escapeReferences(cwd),
  };
}
