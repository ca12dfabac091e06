import type { ConfigProblem } from '../../config/reload/config-state.ts';
import type { ProcessNode } from '../../manage/process-tree.ts';
import type { FoundServer } from '../../manage/registry-search.ts';
import type { LogLine } from '../../observe/server-log/read-tail.ts';
import type {
  AddedServer,
  AddedServers,
  ChangedServer,
  ConfigState,
  ServerEntryShown,
} from '../../manage/change-results.ts';
import type { JsonObject } from '../../model/json.ts';
import type { AdminServer } from './contract.ts';

/** The routes that change which servers there are, and show what one needs to decide about it. */
export interface ManageContract {
  /** The file that everything comes from. */
  'GET /api/config': { answer: AdminConfigState };
  /** Reads the configuration file now, which happens by itself a moment after each change; answers when it is in use, or is refused. */
  'POST /api/config/reload': { answer: AdminReloaded };

  /** Adds servers; one that cannot be added does not stop the others. Give `servers`, `text` or `registry`. */
  'POST /api/servers': { body: AdminNewServers; answer: AdminAddedServers };
  /** The entry of a server as it stands in the file, with `•••` where a secret is. */
  'GET /api/servers/:name/config': { answer: AdminServerConfig };
  /** Merges changes into an entry: null deletes a key, also in `env` and `headers`; `•••` leaves a value as it is. */
  'PATCH /api/servers/:name': { body: AdminServerPatch; answer: AdminServerChanged };
  'DELETE /api/servers/:name': { body: { expected?: string }; answer: AdminServerChanged };
  'POST /api/servers/:name/enable': { answer: AdminServerChanged };
  'POST /api/servers/:name/disable': { answer: AdminServerChanged };

  /** The last lines of what its process said on standard error, and of trouble with the protocol. */
  'GET /api/servers/:name/log': { query: { lines?: number; from?: number }; answer: AdminServerLog };
  /** What runs for a server now. */
  'GET /api/servers/:name/processes': { answer: AdminProcesses };

  /** Servers of the MCP registry. */
  'GET /api/registry': { query: { q: string; limit?: number }; answer: readonly AdminRegistryServer[] };
}

export interface AdminConfigState extends ConfigState {
  /** Why the file as it is now is not what runs. */
  readonly problem?: ConfigProblem;
  /** Settings that are written otherwise than they are in use until the gateway is started again. */
  readonly needsRestart: readonly string[];
}

/** Whether what the configuration file says is what runs. */
export interface AdminReloaded {
  /** Why the file as it is now is not what runs; absent when it is. */
  readonly problem?: ConfigProblem;
  /** Settings that are written otherwise than they are in use until the gateway is started again. */
  readonly needsRestart: readonly string[];
}

export interface AdminNewServers {
  /** Entries as they stand in `mcpServers`, by name. */
  readonly servers?: Readonly<Record<string, JsonObject>>;
  /** What a person pasted: an `mcpServers` map, VS Code's `servers`, a single entry; JSON with comments. */
  readonly text?: string;
  /** A server of the registry, and under which name it is wanted. */
  readonly registry?: { readonly name: string; readonly as?: string };
  /** The name of a pasted entry that has none. */
  readonly name?: string;
  /** Replaces servers of the same name instead of refusing. */
  readonly replace?: boolean;
  /** Says what would happen, and changes nothing. */
  readonly dryRun?: boolean;
  /** The revision that the person looked at. */
  readonly expected?: string;
}

export type AdminAddedServers = AddedServers;
export type AdminAddedServer = AddedServer;
export type AdminServerConfig = ServerEntryShown;

export interface AdminServerPatch {
  readonly changes: JsonObject;
  /** The revision that the person looked at. */
  readonly expected?: string;
}

export interface AdminServerChanged extends ChangedServer {
  /** As it is now; absent when it was removed. */
  readonly server?: AdminServer;
}

export interface AdminServerLog {
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  /** The oldest first; secrets are masked, characters that control something are not there. */
  readonly lines: readonly AdminLogLine[];
  /** Whether there is more before them. */
  readonly hasMore: boolean;
  /** Asked with as `from`, only what was written since is answered. */
  readonly next: number;
}

export type AdminLogLine = LogLine;

export interface AdminProcesses {
  readonly name: string;
  /** The processes that we started for it, each with its children. */
  readonly processes: readonly AdminProcess[];
  /** Of all of them. */
  readonly memoryBytes: number;
}

export type AdminProcess = ProcessNode;
export type AdminRegistryServer = FoundServer;
