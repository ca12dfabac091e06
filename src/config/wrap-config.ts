import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { canonicalJson } from '../core/lib/canonical-json.ts';
import type { JsonObject } from '../core/json.ts';
import { adHocServerName } from './ad-hoc-server-name.ts';
import type { AdHocConfig, AdHocServer } from './ad-hoc-config.ts';
import type { Locations } from './find-config.ts';
import { escapeReferences } from './resolve-references.ts';

interface WrapOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly locations: Locations;
  /** The description of the client. A server may offer other tools to another client. */
  readonly client: JsonObject;
  /** The maximum time for a start of the server, such as `30s`. */
  readonly initTimeout?: string | undefined;
}

const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/**
 * Creates the configuration of one server that runs as if the client had started it: in the same folder and with the same environment. The
 * configuration contains the names of the variables, not their values. Each command line, folder, set of variables and client has its own
 * state.
 */
export function createWrapConfig(
  server: AdHocServer,
  options: WrapOptions,
): AdHocConfig & { readonly name: string } {
  const name = adHocServerName(server);
  const entry =
    'url' in server
      ? { ...server, name: undefined, url: escapeReferences(server.url) }
      : createProgramEntry(server, options);
  const { initTimeout } = options;
  const common = { mcpServers: { [name]: { ...entry, idle: 'never' } } };
  const limited = { ...entry, idle: 'never', timeouts: { connect: initTimeout } };
  const text = JSON.stringify(
    initTimeout === undefined
      ? common
      : { mcpServers: { [name]: limited }, startup: { refresh: initTimeout } },
  );
  // The time limit does not change what the server offers, so it does not select another state.
  const key = canonicalJson([options.cwd, JSON.stringify(common), options.client]);
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 16);
  const stateDir = join(options.locations.stateDir, 'wraps', hash);
  return { name, file: join(options.cwd, 'command-line'), text, stateDir };
}

function createProgramEntry(
  server: Extract<AdHocServer, { readonly command: string }>,
  { cwd, env }: WrapOptions,
): JsonObject {
  const names = Object.keys(env).filter((name) => VARIABLE_NAME.test(name) && env[name] !== undefined);
  return {
    command: escapeReferences(server.command),
    args: server.args.map(escapeReferences),
    cwd: escapeReferences(cwd),
    // The empty fallback keeps variables that are set to an empty value.
    env: Object.fromEntries(names.toSorted().map((name) => [name, `\${env:${name}:-}`])),
  };
}
