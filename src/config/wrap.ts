import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { JsonObject } from '../model/json.ts';
import { adHocName } from './ad-hoc-name.ts';
import type { AdHocConfig, AdHocServer } from './ad-hoc.ts';
import type { Locations } from './paths.ts';
import { escapeReferences } from './references.ts';

interface WrapOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly places: Locations;
  /** What the client says that it can do: a server may offer it other things than another client. */
  readonly client: JsonObject;
}

/**
 * The configuration of one server as if the client had started it: in the same folder and with the whole environment, of which
 * only names are written down. What is remembered belongs to this command line, folder, environment and kind of client.
 */
export function wrapConfig(
  server: AdHocServer,
  options: WrapOptions,
): AdHocConfig & { readonly name: string } {
  const name = adHocName(server);
  const entry =
    'url' in server
      ? { ...server, name: undefined, url: escapeReferences(server.url) }
      : started(server, options);
  const text = JSON.stringify({ mcpServers: { [name]: { ...entry, idle: 'never' } } });
  const key = canonicalJson([options.cwd, text, options.client]);
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 16);
  const stateDir = join(options.places.stateDir, 'wraps', hash);
  return { name, file: join(options.cwd, 'command-line'), text, stateDir };
}

function started(
  server: Extract<AdHocServer, { readonly command: string }>,
  { cwd, env }: WrapOptions,
): JsonObject {
  const names = Object.keys(env).filter((name) => NAME.test(name) && env[name] !== undefined);
  return {
    command: escapeReferences(server.command),
    args: server.args.map(escapeReferences),
    cwd: escapeReferences(cwd),
    // An empty value is one, too.
    env: Object.fromEntries(names.toSorted().map((name) => [name, `\${env:${name}:-}`])),
  };
}

const NAME = /^[A-Za-z_]\w*$/;
