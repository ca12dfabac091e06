import type { JsonObject } from '../../../core/json.ts';
import { shellDialect } from '../dialect.ts';
import type { Dialect } from '../dialect.ts';
import type { ClientEnvironment, ImportedServer, SourceContext } from '../import-source.ts';

/** Everything that `import` and `connect` need to know about a client. */
export interface ClientDeclaration {
  readonly id: string;
  readonly title: string;
  /** The user's files, as `resolveClientPath` reads them. `connect` edits the first that exists, or else creates the first whose folder exists. */
  readonly files: readonly (string | ((environment: ClientEnvironment) => string))[];
  /** Files in the current folder; only imported if the user names them. */
  readonly projectFiles?: readonly string[];
  /** Default: JSON with comments. */
  readonly syntax?: 'toml' | 'yaml';
  /** The keys that lead to the servers. */
  readonly servers: readonly [string, ...string[]];
  /** Returns the dialect of the variables that the client replaces. */
  readonly dialect: (context: SourceContext) => Dialect;
  /** Unit of `timeout` in an entry; undefined if it does not limit calls. */
  readonly timeoutUnit?: 'ms' | 's';
  /** Transport of a URL without a type. */
  readonly urlType?: 'sse';
  /** Returns the entry in the common format of MCP clients, or why it cannot be imported. */
  readonly prepare?: (raw: JsonObject) => JsonObject | string;
  /** Reads the client's files if they contain more than a map of servers. */
  readonly read?: (text: string, context: SourceContext) => readonly ImportedServer[];
  readonly connect: ConnectDeclaration;
}

/** How `connect` writes Trunkline into the client's file. */
export interface ConnectDeclaration {
  /** How the client writes a program; default `{ command, args, env }`. */
  readonly program?: (launch: LaunchEntry) => JsonObject;
  /** How the client writes the URL of a server; undefined if it only starts programs. */
  readonly remote?: (url: string, name: string) => JsonObject;
  /** Members that the client requires in every entry. */
  readonly extra?: JsonObject;
  /** Members that make the client load our few tools at once: it waits for them, and does not hide them behind its own tool search. */
  readonly keepLoaded?: JsonObject;
  /** Returns the members that hand over variables. Absent if the client passes its whole environment to programs. */
  readonly variables?: (needed: NeededVariables) => JsonObject;
  /** Whether the client has the user's `PATH`; desktop applications often do not. */
  readonly inheritsPath?: boolean;
  /** The name of the files that can be edited; absent if all of them can. */
  readonly fileName?: string;
  /** Whether the servers are a list of objects with a name. */
  readonly isList?: boolean;
}

/** The variables that Trunkline needs from the environment of a client. */
export interface NeededVariables {
  /** Those that the configuration refers to, whether they are set or not. */
  readonly referenced: readonly string[];
  /** Those of `referenced` that are set now. */
  readonly set: readonly string[];
  /** Those of the user's session that are set, such as a proxy. */
  readonly session: readonly string[];
}

/** The command that starts Trunkline. */
export interface LaunchEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/**
 * Hands variables over as references that the client replaces. An unset variable becomes empty, which counts as unset; without the default,
 * it would become the text `${NAME}`.
 */
export function passReferences({ referenced }: NeededVariables): JsonObject {
  return { env: Object.fromEntries(referenced.map((name) => [name, `\${${name}:-}`])) };
}

/** Entries with a `type`, which is `stdio` for programs. */
export const typedEntries: ConnectDeclaration = {
  extra: { type: 'stdio' },
  remote: (url) => ({ type: 'http', url }),
};

/** Entries without a `type`: the presence of `command` or `url` decides. */
export const plainEntries: ConnectDeclaration = { remote: (url) => ({ url }) };

export const mcpServers = ['mcpServers'] as const;

/** The dialect of clients that replace `${NAME}` as a shell does. */
export const shell = (): Dialect => shellDialect();
