import type { ConfigDocument, ConfigEdit } from '../../config/file/edit-config.ts';
import { findEntryProblem } from '../../config/read-server-entry.ts';
import { GatewayError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { detectGatewayEntry } from '../import/gateway-entry.ts';
import type { GatewayIdentity } from '../import/gateway-entry.ts';
import type { ClientEnvironment, ImportedServer } from '../import/import-source.ts';
import { isSameEntry } from '../import/is-same-entry.ts';
import { findPlaintextSecrets } from '../import/plaintext-secrets.ts';
import type { ChangeAuthor } from './change-author.ts';
import type { AddServerResult } from './change-results.ts';
import { readServerTrust } from './config-entries.ts';
import { assertUnmasked, maskEntry } from './mask-entry.ts';
import { filterEntryForModel, findModelNameProblem } from './model-restrictions.ts';
import { parseServerInput } from './server-input.ts';
import type { ServerInput } from './server-input.ts';

interface AdditionOptions {
  readonly document: ConfigDocument;
  readonly author: ChangeAuthor;
  readonly environment: ClientEnvironment;
  readonly identity: GatewayIdentity;
  readonly replace: boolean;
  /** Returns another random suffix each time. */
  readonly createSuffix: () => string;
}

/** The maximum number of servers. It stops an author who adds servers without end; no real configuration has as many. */
const MAX_SERVERS = 1000;
const MAX_ENTRY_CHARACTERS = 64 * 1024;

/** The result for one server, with the edit that adds it. */
type PlannedAddition = AddServerResult & { readonly edit?: ConfigEdit };

/** Plans the addition of each server. One that cannot be added does not affect the others. */
export function planAdditions(input: ServerInput, options: AdditionOptions): readonly PlannedAddition[] {
  const { document, environment } = options;
  const added = new Set<string>();
  return parseServerInput(input, { configFile: document.file, environment }).map((server) => {
    if (added.has(server.name)) return refuse(server.name, 'it was given twice');
    if (document.servers.size + added.size >= MAX_SERVERS) {
      return refuse(server.name, `there are ${MAX_SERVERS} servers already`);
    }
    const planned = planAddition(server, options);
    if (planned.result === 'added') added.add(server.name);
    return planned;
  });
}

function planAddition(server: ImportedServer, options: AdditionOptions): PlannedAddition {
  const { name, problem, remarks } = server;
  const { document, author, replace } = options;
  if (server.entry === undefined || problem !== undefined) {
    return refuse(name, problem ?? 'it cannot be read');
  }
  const detected = detectGatewayEntry(server.entry, options.identity);
  if (detected === 'own') return refuse(name, 'it is Trunkline itself');
  if (JSON.stringify(server.entry).length > MAX_ENTRY_CHARACTERS) return refuse(name, 'it is too long');
  const { entry, remarks: filterRemarks } = filterEntry(detected?.wrapped ?? server.entry, author);
  const entryProblem = findProblem(name, entry, options);
  if (entryProblem !== undefined) return refuse(name, entryProblem);
  const existing = author.canSee?.(name) === false ? undefined : document.servers.get(name);
  if (existing !== undefined && !replace) {
    return isSameEntry(existing, entry) ? reportSame(name) : refuse(name, 'another server has this name');
  }
  if (existing === undefined && !isNameAllowed(name, options)) {
    return refuse(name, 'this name cannot be used; choose another one');
  }
  let finalName = name;
  if (existing === undefined && author.mayCollideWithHidden === true) {
    const sameServer = findSuffixedServer(name, entry, options);
    if (sameServer !== undefined) return reportSame(sameServer);
    finalName = addSuffix(name, options);
  }
  const written = author.kind === 'person' ? entry : { ...entry, trust: 'manual' };
  return {
    name: finalName,
    result: 'added',
    trust: readServerTrust(written),
    entry: maskEntry(written),
    remarks: [
      ...remarks,
      ...filterRemarks,
      ...(finalName === name ? [] : [`its name is "${finalName}": names that you choose get a suffix`]),
      ...findPlaintextSecrets(name, entry).map(
        ({ path }) => `${path.join('.')} holds a secret in plain text`,
      ),
      ...findTwinRemarks(finalName, entry, options),
    ],
    edit: { path: ['mcpServers', finalName], value: written },
  };
}

function filterEntry(entry: JsonObject, author: ChangeAuthor): ReturnType<typeof filterEntryForModel> {
  return author.kind === 'model' ? filterEntryForModel(entry) : { entry, remarks: [] };
}

function findProblem(name: string, entry: JsonObject, options: AdditionOptions): string | undefined {
  const { author, document } = options;
  try {
    assertUnmasked(entry);
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
    throw error;
  }
  const nameProblem = author.kind === 'model' ? findModelNameProblem(name) : undefined;
  return nameProblem ?? findEntryProblem(name, entry, document.file);
}

/**
 * Whether a new server may have this name. Names that the author could not see are always refused, so the result does not reveal whether a
 * hidden server has the name.
 */
function isNameAllowed(name: string, { author, document }: AdditionOptions): boolean {
  const isHidden = document.servers.has(name) && author.mayCollideWithHidden !== true;
  return !isHidden && (author.canSeeNew ?? author.canSee)?.(name) !== false;
}

/** Returns the name of a visible server that has the same entry, and this name with a suffix from an earlier addition. */
function findSuffixedServer(name: string, entry: JsonObject, options: AdditionOptions): string | undefined {
  const { document, author } = options;
  const start = suffixStart(name);
  const server = [...document.servers].find(
    ([other, existing]) =>
      other.startsWith(start) && author.canSee?.(other) !== false && isSameEntry(existing, entry),
  );
  return server?.[0];
}

/** Adds a random suffix, so that adding a server does not reveal which names are taken. */
function addSuffix(name: string, { document, createSuffix }: AdditionOptions): string {
  for (;;) {
    const suffixed = `${suffixStart(name)}${createSuffix()}`;
    if (!document.servers.has(suffixed)) return suffixed;
  }
}

function suffixStart(name: string): string {
  return `${name.slice(0, 50)}-`;
}

function findTwinRemarks(name: string, entry: JsonObject, options: AdditionOptions): readonly string[] {
  const { author, document } = options;
  const twin = [...document.servers].find(
    ([other, existing]) => other !== name && author.canSee?.(other) !== false && isSameEntry(existing, entry),
  );
  return twin === undefined ? [] : [`it reaches the same server as "${twin[0]}"`];
}

function reportSame(name: string): PlannedAddition {
  return { name, result: 'same', reason: 'it exists already', remarks: [] };
}

function refuse(name: string, reason: string): PlannedAddition {
  return { name, result: 'refused', reason, remarks: [] };
}
