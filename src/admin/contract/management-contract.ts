import type { ConfigProblem } from '../../config/reload/config-state.ts';
import type { ProcessNode } from '../../setup/manage/process-tree.ts';
import type { RegistrySearchResult } from '../../setup/manage/search-registry.ts';
import type { LogLine } from '../../observability/server-log/read-log-tail.ts';
import type {
  AddServerResult,
  AddServersResult,
  ChangeServerResult,
  ConfigFileState,
  ServerEntryView,
} from '../../setup/manage/change-results.ts';
import type { JsonObject } from '../../core/json.ts';
import type { AdminServer } from './contract.ts';

/** Routes that change the configured servers and show their configuration, logs and processes. */
export interface ManagementContract {
  /** The state of the configuration file. */
  'GET /api/config': { response: AdminConfigState };
  /** Reads the configuration file now, without waiting for the file watcher; responds when the configuration is active or rejected. */
  'POST /api/config/reload': { response: AdminReloadResult };

  /** Adds the servers given by `servers`, `text` or `registry`. A server that cannot be added does not affect the others. */
  'POST /api/servers': { body: AdminAddServersInput; response: AdminAddServersResult };
  /** The entry of a server as it is in the file, with `•••` in place of secrets. */
  'GET /api/servers/:name/config': { response: AdminServerConfig };
  /** Merges changes into an entry: null deletes a key, also in `env` and `headers`; `•••` keeps the existing value. */
  'PATCH /api/servers/:name': { body: AdminServerPatch; response: AdminChangeServerResult };
  'DELETE /api/servers/:name': { body: { expected?: string }; response: AdminChangeServerResult };
  'POST /api/servers/:name/enable': { response: AdminChangeServerResult };
  'POST /api/servers/:name/disable': { response: AdminChangeServerResult };

  /** The last lines that the server wrote to standard error, and protocol errors that the gateway noticed. */
  'GET /api/servers/:name/log': { query: { lines?: number; from?: number }; response: AdminServerLog };
  /** The processes that run for a server now. */
  'GET /api/servers/:name/processes': { response: AdminProcesses };

  /** The names of the stored secrets; their values cannot be read. */
  'GET /api/secrets': { response: readonly AdminSecret[] };
  /** Stores a value for `${secret:NAME}`, and restarts the servers that refer to it. */
  'PUT /api/secrets/:name': { body: { value: string }; response: AdminSecret };
  'DELETE /api/secrets/:name': { response: { readonly removed: boolean } };

  /** Searches the MCP registry. */
  'GET /api/registry': { query: { q: string; limit?: number }; response: readonly AdminRegistryServer[] };
}

export interface AdminConfigState extends ConfigFileState {
  /** Why the current content of the file is not active. */
  readonly problem?: ConfigProblem | undefined;
  /** Settings in the file that take effect after the next restart. */
  readonly needsRestart: readonly string[];
}

/** Whether the running configuration matches the file. */
export interface AdminReloadResult {
  /** Why the current content of the file is not active; absent if it is. */
  readonly problem?: ConfigProblem | undefined;
  /** Settings in the file that take effect after the next restart. */
  readonly needsRestart: readonly string[];
}

export interface AdminAddServersInput {
  /** Entries of `mcpServers` by name. */
  readonly servers?: Readonly<Record<string, JsonObject>>;
  /** A pasted snippet, such as an `mcpServers` map, VS Code's `servers` or a single entry. */
  readonly text?: string;
  /** A server of the registry, and the name to add it under. */
  readonly registry?: { readonly name: string; readonly as?: string };
  /** The name for a pasted entry that has none. */
  readonly name?: string;
  /** Replaces servers of the same name instead of rejecting them. */
  readonly replace?: boolean;
  /** Returns the expected result without changing anything. */
  readonly dryRun?: boolean;
  /** The revision of the file that the change is based on; the change is rejected if the file has a different revision. */
  readonly expected?: string;
}

export type AdminAddServersResult = AddServersResult;
export type AdminAddServerResult = AddServerResult;
export type AdminServerConfig = ServerEntryView;

export interface AdminServerPatch {
  readonly changes: JsonObject;
  /** The revision of the file that the change is based on; the change is rejected if the file has a different revision. */
  readonly expected?: string;
}

export interface AdminChangeServerResult extends ChangeServerResult {
  /** The state of the server after the change; absent if it was removed. */
  readonly server?: AdminServer | undefined;
}

export interface AdminServerLog {
  readonly name: string;
  /** The absolute path of the log file. */
  readonly file: string;
  /** The oldest first; secrets are masked and control characters are removed. */
  readonly lines: readonly AdminLogLine[];
  /** Whether the file has earlier lines. */
  readonly hasMore: boolean;
  /** Pass this as `from` in the next request to get only newer lines. */
  readonly next: number;
}

export type AdminLogLine = LogLine;

export interface AdminProcesses {
  readonly name: string;
  /** The processes that the gateway started for the server, each with its children. */
  readonly processes: readonly AdminProcess[];
  /** The memory of all processes together. */
  readonly memoryBytes: number;
}

export type AdminProcess = ProcessNode;
export type AdminRegistryServer = RegistrySearchResult;

/** A secret without its value. */
export interface AdminSecret {
  readonly name: string;
  /** The keychain of the system, or the encrypted database. */
  readonly place: 'keychain' | 'vault';
  readonly savedAt: number;
  /** The servers that refer to it. */
  readonly servers: readonly string[];
}
