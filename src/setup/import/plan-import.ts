import { findEntryProblem } from '../../config/read-server-entry.ts';
import { canonicalJson } from '../../core/lib/canonical-json.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { FoundFile } from './find-servers.ts';
import { detectGatewayEntry } from './gateway-entry.ts';
import type { GatewayIdentity } from './gateway-entry.ts';
import type { ImportedServer, SourceFile } from './import-source.ts';
import { isSameEntry } from './is-same-entry.ts';
import { findPlaintextSecrets } from './plaintext-secrets.ts';
import type { PlaintextSecret } from './plaintext-secrets.ts';

/** The decision about one server. */
export interface ImportStep {
  readonly state: 'new' | 'same' | 'conflicting' | 'unusable' | 'own';
  /** Name in the file that it comes from. */
  readonly name: string;
  /** Name that it has or would have in our configuration. */
  readonly as: string;
  readonly from: {
    readonly id: string;
    readonly title: string;
    readonly path: string;
    /** `project`: others may have written the file, so its servers are held for approval. */
    readonly scope: SourceFile['scope'];
    readonly project?: string | undefined;
  };
  readonly entry?: JsonObject | undefined;
  /** The entry in the client's file, if the person has corrected it. */
  readonly original?: JsonObject | undefined;
  /** Why it is not imported. */
  readonly reason?: string;
  readonly remarks: readonly string[];
  readonly secrets: readonly PlaintextSecret[];
}

/** The treatment of a server whose name belongs to another server in our configuration. */
export type ConflictStrategy = 'keep' | 'rename' | 'replace';

interface ImportOptions {
  readonly servers: ReadonlyMap<string, unknown>;
  /** The entries that clients have for corrected servers, by name. */
  readonly originals?: ReadonlyMap<string, JsonObject> | undefined;
  readonly identity: GatewayIdentity;
  readonly onConflict: ConflictStrategy;
  readonly configFile: string;
}

/** Decides what to do with every server that was found. If several servers have the same name, only the first one is imported. */
export function planImport(found: readonly FoundFile[], options: ImportOptions): readonly ImportStep[] {
  const names = new ImportNames(options);
  return found.flatMap((file) => file.servers.map((server) => planStep(server, file, { names, options })));
}

function planStep(
  server: ImportedServer,
  { source, path, scope }: FoundFile,
  { names, options }: { readonly names: ImportNames; readonly options: ImportOptions },
): ImportStep {
  const { name, remarks, project } = server;
  const { id, title } = source;
  const from = { id, title, path, scope, project };
  const base = { name, as: name, from, remarks, secrets: [] };
  const detected =
    server.entry === undefined ? undefined : detectGatewayEntry(server.entry, options.identity);
  if (detected === 'own') {
    return { ...base, state: 'own', reason: 'it is Trunkline itself', remarks: [], entry: server.entry };
  }
  const entry = detected?.wrapped ?? server.entry;
  if (entry === undefined || server.problem !== undefined) {
    return { ...base, state: 'unusable', reason: server.problem ?? 'it cannot be read' };
  }
  const existingName = names.findSame(entry);
  if (existingName !== undefined) {
    return {
      ...base,
      state: 'same',
      as: existingName,
      remarks: compareToolLists(entry, names.get(existingName)),
    };
  }
  const as = names.choose(name, id);
  if (as === undefined) {
    return { ...base, state: 'conflicting', reason: 'another server has this name', entry };
  }
  const problem = findEntryProblem(as, entry, options.configFile);
  if (problem !== undefined) return { ...base, state: 'unusable', reason: problem };
  names.add(as, entry);
  return { ...base, state: 'new', as, entry, secrets: findPlaintextSecrets(as, entry) };
}

/** Returns a remark if the client and Trunkline limit the server's tools differently, because the entry in Trunkline stays unchanged. */
function compareToolLists(entry: JsonObject, existing: unknown): readonly string[] {
  if (entry['tools'] === undefined || !isJsonObject(existing)) return [];
  if (canonicalJson(entry['tools']) === canonicalJson(existing['tools'] ?? {})) return [];
  return [
    'the client limits its tools in another way than Trunkline, which keeps its own setting; see "tools" of the server',
  ];
}

/** Tracks the entries of our configuration together with those that are going to be imported. */
class ImportNames {
  readonly #options: ImportOptions;
  readonly #entries: Map<string, unknown>;
  readonly #replaced = new Set<string>();

  constructor(options: ImportOptions) {
    this.#options = options;
    this.#entries = new Map(options.servers);
  }

  get(name: string): unknown {
    return this.#entries.get(name);
  }

  findSame(entry: JsonObject): string | undefined {
    const known = [...this.#entries, ...(this.#options.originals ?? [])];
    return known.find(([, existing]) => isSameEntry(existing, entry))?.[0];
  }

  /** Returns the name under which a server is imported; undefined if another server keeps the name. */
  choose(name: string, sourceId: string): string | undefined {
    const { onConflict, servers } = this.#options;
    if (!this.#entries.has(name)) return name;
    if (onConflict === 'rename') return this.#findFreeName(`${name}-${sourceId}`);
    // Only an entry that was in our configuration before is replaced, and only once.
    if (onConflict !== 'replace' || this.#replaced.has(name) || !servers.has(name)) return undefined;
    this.#replaced.add(name);
    return name;
  }

  add(name: string, entry: JsonObject): void {
    this.#entries.set(name, entry);
  }

  #findFreeName(name: string): string {
    if (!this.#entries.has(name)) return name;
    for (let count = 2; ; count++) if (!this.#entries.has(`${name}-${count}`)) return `${name}-${count}`;
  }
}
