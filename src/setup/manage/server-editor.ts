import { randomBytes } from 'node:crypto';

import { preserveTrust } from '../../config/file/config-trust.ts';
import { editConfig, parseConfigDocument, readConfigDocument } from '../../config/file/edit-config.ts';
import type { ConfigDocument, ConfigEdit } from '../../config/file/edit-config.ts';
import { computeConfigRevision, readConfigText } from '../../config/load-config.ts';
import { readServerEntry } from '../../config/read-server-entry.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Fingerprint, UpstreamName } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { AuditEvent } from '../../observability/audit/audit-record.ts';
import { detectGatewayEntry } from '../import/gateway-entry.ts';
import type { GatewayIdentity } from '../import/gateway-entry.ts';
import type { ClientEnvironment } from '../import/import-source.ts';
import type { ChangeAuthor } from './change-author.ts';
import type {
  AddServersResult,
  ApplyResult,
  ChangeServerResult,
  ConfigFileState,
  ServerEntryView,
} from './change-results.ts';
import {
  assertWritable,
  findEntry,
  isEntryEnabled,
  readManagementSettings,
  readServerTrust,
} from './config-entries.ts';
import { maskEntry, unmaskChanges } from './mask-entry.ts';
import { mergeEntry } from './merge-entry.ts';
import type { MergedEntry } from './merge-entry.ts';
import { assertModelMayChange } from './model-restrictions.ts';
import { planAdditions } from './plan-additions.ts';
import type { ServerInput } from './server-input.ts';

export interface ServerEditorDeps {
  /** The absolute path of the configuration. */
  readonly file: string;
  readonly version: string;
  readonly environment: ClientEnvironment;
  /** Returns the paths and addresses that identify this program in an entry. */
  readonly readIdentity: (configText: string) => GatewayIdentity;
  /** Stores the changes for all gateways that share a database. If it is absent, they are written to the file. */
  readonly shared?: SharedConfigStore | undefined;
  /** The folder in which trusted project configurations are recorded. */
  readonly trustDir: string;
  /** Makes the running gateway apply the current configuration. */
  readonly apply: () => Promise<ApplyResult>;
  readonly record: (event: AuditEvent) => void;
  /** Whether a server with this fingerprint was approved before. */
  readonly isApproved: (name: UpstreamName, fingerprint: Fingerprint) => Promise<boolean>;
  /** Deletes other data about a server that was removed. */
  readonly onRemoved?: (name: string) => Promise<void> | void;
}

/** A configuration whose changes are stored outside of its file. */
export interface SharedConfigStore {
  /** Returns the text of the active configuration. */
  text(): Promise<string>;
  read(): Promise<ConfigDocument>;
  /** Resolves to the new text. Rejects with a conflict if another gateway has saved a change since `read`. */
  save(document: ConfigDocument, edits: readonly ConfigEdit[]): Promise<string>;
}

interface ChangeOptions {
  readonly author: ChangeAuthor;
  /** The revision that the author has seen; the change is rejected if the current one differs. */
  readonly expectedRevision?: string | undefined;
}

interface AddServerOptions extends ChangeOptions {
  /** Whether to return the results without saving anything. */
  readonly dryRun?: boolean | undefined;
  /** Whether a server with the same name is replaced. */
  readonly replace?: boolean | undefined;
}

const UNCHANGED: ApplyResult = { state: 'unchanged' };

/** Makes all changes to servers that commands, the admin API and models request. */
export class ServerEditor {
  readonly #deps: ServerEditorDeps;
  /** Serializes the changes of this process. */
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(deps: ServerEditorDeps) {
    this.#deps = deps;
  }

  /** Returns the state of the configuration. Does not reject if the file is invalid or missing, because that is reported elsewhere. */
  async state(): Promise<ConfigFileState> {
    const { file } = this.#deps;
    const reading = this.#deps.shared?.text() ?? readConfigText(file);
    const text = await reading.catch(() => '');
    return { file, revision: this.#revision(text), ...readManagementSettings(text) };
  }

  /** Returns the entry of a server with masked secrets. */
  async entry(name: string, author?: ChangeAuthor): Promise<ServerEntryView> {
    const document = await this.#readActive();
    return this.#view(document, name, findEntry(document, name, author));
  }

  /** Returns all entries that are objects, valid or not. */
  async entries(): Promise<readonly ServerEntryView[]> {
    const document = await this.#readActive();
    return [...document.servers].flatMap(([name, entry]) =>
      isJsonObject(entry) ? [this.#view(document, name, entry)] : [],
    );
  }

  /** Adds servers. Each one has its own result, and one that cannot be added does not affect the others. */
  add(input: ServerInput, options: AddServerOptions): Promise<AddServersResult> {
    return this.#serialize(async () => {
      const { author, dryRun = false, replace = false } = options;
      const { environment, readIdentity } = this.#deps;
      const document = await this.#readForChange(options, { isDryRun: dryRun });
      const plan = planAdditions(input, {
        document,
        author,
        environment,
        identity: readIdentity(document.text),
        replace,
        createSuffix: () => randomBytes(3).toString('hex'),
      });
      const results = plan.map(({ edit: _, ...result }) => result);
      const edits = plan.flatMap(({ edit }) => edit ?? []);
      if (dryRun || edits.length === 0) {
        return { dryRun, results, applied: UNCHANGED, revision: this.#revision(document.text) };
      }
      const revision = await this.#save(document, edits);
      for (const { name, result, trust } of results) {
        if (result === 'added') this.#record('add', author, name, { trust });
      }
      return { dryRun, results, applied: await this.#deps.apply(), revision };
    });
  }

  /** Merges changes into an entry: null deletes a key, and a masked value that is sent back stays as it is. */
  update(name: string, changes: JsonObject, options: ChangeOptions): Promise<ChangeServerResult> {
    return this.#serialize(async () => {
      const { author } = options;
      const document = await this.#readForChange(options);
      const current = findEntry(document, name, author);
      if (author.kind === 'model') assertModelMayChange(changes);
      const wanted = mergeEntry(current, unmaskChanges(changes, current), ['mcpServers', name]);
      if (wanted.edits.length === 0) return this.#reportUnchanged(document, name);
      const { merged, isHeld } = await this.#checkUpdate(document, name, { current, wanted, author });
      const revision = await this.#save(document, merged.edits);
      this.#record('update', author, name, { keys: merged.changed, held: isHeld ? true : undefined });
      return { name, changed: merged.changed, isHeld, applied: await this.#deps.apply(), revision };
    });
  }

  remove(name: string, options: ChangeOptions): Promise<ChangeServerResult> {
    return this.#serialize(async () => {
      const document = await this.#readForChange(options);
      findEntry(document, name, options.author);
      const revision = await this.#save(document, [{ path: ['mcpServers', name], value: undefined }]);
      this.#record('remove', options.author, name, {});
      const applied = await this.#deps.apply();
      await this.#deps.onRemoved?.(name);
      return { name, changed: [], isHeld: false, applied, revision };
    });
  }

  enable(name: string, options: ChangeOptions): Promise<ChangeServerResult> {
    return this.#setEnabled(name, true, options);
  }

  disable(name: string, options: ChangeOptions): Promise<ChangeServerResult> {
    return this.#setEnabled(name, false, options);
  }

  #setEnabled(name: string, isEnabled: boolean, options: ChangeOptions): Promise<ChangeServerResult> {
    return this.#serialize(async () => {
      const { author } = options;
      const document = await this.#readForChange(options);
      const entry = findEntry(document, name, author);
      if (isEntryEnabled(entry) === isEnabled) return this.#reportUnchanged(document, name);
      const path = ['mcpServers', name] as const;
      const isHeld = isEnabled && (await this.#needsApproval(name, entry, author));
      // `enabled: true` is the default, so it is not written.
      const revision = await this.#save(document, [
        { path: [...path, 'disabled'], value: undefined },
        { path: [...path, 'enabled'], value: isEnabled ? undefined : false },
        ...(isHeld ? [createHoldEdit(name)] : []),
      ]);
      this.#record(isEnabled ? 'enable' : 'disable', author, name, { held: isHeld ? true : undefined });
      const changed = isHeld ? ['enabled', 'trust'] : ['enabled'];
      return { name, changed, isHeld, applied: await this.#deps.apply(), revision };
    });
  }

  /**
   * Validates a changed entry. If the server would be run or reached in another way and the author is not a person, adds the edit that
   * holds it for approval.
   */
  async #checkUpdate(
    document: ConfigDocument,
    name: string,
    change: { readonly current: JsonObject; readonly wanted: MergedEntry; readonly author: ChangeAuthor },
  ): Promise<{ readonly merged: MergedEntry; readonly isHeld: boolean }> {
    const { current, wanted, author } = change;
    const { file, text } = document;
    const before = readServerEntry(name, current, file);
    const after = readServerEntry(name, wanted.entry, file);
    if ('problem' in after) throw updateError(name, after.problem);
    if (detectGatewayEntry(wanted.entry, this.#deps.readIdentity(text)) !== undefined) {
      throw updateError(name, 'it would be Trunkline itself');
    }
    const isManual = after.upstream.trust === 'manual';
    if (author.kind !== 'person' && readServerTrust(current) === 'manual' && !isManual) {
      throw new GatewayError(
        'ARGUMENTS_REFUSED',
        `Only a person can remove "trust": "manual" from "${name}".`,
      );
    }
    // Enabling a server that was never approved counts as running it differently.
    const isRunDifferently =
      'problem' in before ||
      before.upstream.startFingerprint !== after.upstream.startFingerprint ||
      (!isEntryEnabled(current) &&
        isEntryEnabled(wanted.entry) &&
        (await this.#needsApproval(name, wanted.entry, author)));
    if (!isRunDifferently || isManual) return { merged: wanted, isHeld: isRunDifferently };
    if (author.kind === 'person') return { merged: wanted, isHeld: false };
    const merged = {
      ...wanted,
      edits: [...wanted.edits, createHoldEdit(name)],
      changed: [...wanted.changed, 'trust'],
    };
    return { merged, isHeld: true };
  }

  /** Whether the author is a model that would start this server with a configuration that was never approved. */
  async #needsApproval(name: string, entry: JsonObject, author: ChangeAuthor): Promise<boolean> {
    if (author.kind !== 'model' || readServerTrust(entry) === 'manual') return false;
    const result = readServerEntry(name, entry, this.#deps.file);
    if ('problem' in result) return true;
    return !(await this.#deps.isApproved(result.upstream.name, result.upstream.startFingerprint));
  }

  /** Reads the configuration for a change. Rejects if it is read-only, or if the author has seen another revision. */
  async #readForChange(
    { expectedRevision }: ChangeOptions,
    { isDryRun = false } = {},
  ): Promise<ConfigDocument> {
    const document = await (this.#deps.shared?.read() ?? readConfigDocument(this.#deps.file));
    const { file, text } = document;
    if (!isDryRun) assertWritable(document);
    if (expectedRevision !== undefined && !(await this.#isCurrent(expectedRevision, text))) {
      throw new GatewayError(
        'REVISION_CONFLICT',
        `${file} was changed by another program in the meantime, so this change was not made; read it again and repeat the change.`,
        { details: { file } },
      );
    }
    return document;
  }

  /**
   * Whether the author has seen the current text. Commands see only the file, so with a shared store the revision of the file is accepted,
   * too.
   */
  async #isCurrent(expectedRevision: string, text: string): Promise<boolean> {
    const { shared, file } = this.#deps;
    if (expectedRevision === this.#revision(text)) return true;
    return shared !== undefined && expectedRevision === this.#revision(await readConfigText(file));
  }

  /** Reads the active configuration. Unlike `#readForChange`, it works while the shared store is unavailable. */
  async #readActive(): Promise<ConfigDocument> {
    const { file, shared } = this.#deps;
    return shared === undefined ? readConfigDocument(file) : parseConfigDocument(file, await shared.text());
  }

  async #save(document: ConfigDocument, edits: readonly ConfigEdit[]): Promise<string> {
    const { trustDir, version, shared } = this.#deps;
    if (shared !== undefined) return this.#revision(await shared.save(document, edits));
    const { text } = await preserveTrust(document, trustDir, () => editConfig(document, edits, version));
    return this.#revision(text);
  }

  #view({ text }: ConfigDocument, name: string, entry: JsonObject): ServerEntryView {
    return {
      name,
      entry: maskEntry(entry),
      revision: this.#revision(text),
      enabled: isEntryEnabled(entry),
      trust: readServerTrust(entry),
    };
  }

  #reportUnchanged({ text }: ConfigDocument, name: string): ChangeServerResult {
    return { name, changed: [], isHeld: false, applied: UNCHANGED, revision: this.#revision(text) };
  }

  /** Records the keys of a change, but never their values. */
  #record(action: string, author: ChangeAuthor, server: string, details: JsonObject): void {
    this.#deps.record({
      kind: 'config',
      action,
      caller: author.caller,
      server,
      details: { by: author.kind, ...details },
    });
  }

  #revision(text: string): string {
    return computeConfigRevision(text, this.#deps.version);
  }

  /** Runs a change after all earlier changes of this process have finished. */
  #serialize<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#lastChange.then(change);
    this.#lastChange = result.catch(() => {}); // The caller handles the error.
    return result;
  }
}

/** Creates the edit that holds a server for approval. */
function createHoldEdit(name: string): ConfigEdit {
  return { path: ['mcpServers', name, 'trust'], value: 'manual' };
}

function updateError(name: string, problem: string): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', `Server "${name}" cannot be changed like this: ${problem}.`, {
    details: { server: name },
  });
}
