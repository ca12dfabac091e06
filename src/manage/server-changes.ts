import { randomBytes } from 'node:crypto';

import { configRevision, readConfigText } from '../config/load.ts';
import { documentFrom, editConfig, readForEdit } from '../config/file/edit.ts';
import type { ConfigDocument, ConfigEdit } from '../config/file/edit.ts';
import { readEntry } from '../config/entry-problem.ts';
import { keepTrust } from '../config/file/keep-trust.ts';
import { ownEntry } from '../import/own-entry.ts';
import type { OwnProgram } from '../import/own-entry.ts';
import type { Places } from '../import/source.ts';
import { GatewayError } from '../model/errors.ts';
import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { AuditEvent } from '../observe/audit/audit-record.ts';
import type {
  AddedServers,
  Applied,
  ChangedServer,
  ConfigState,
  ServerEntryShown,
} from './change-results.ts';
import type { ChangedBy } from './changed-by.ts';
import { entryIn, isOn, refuseReadOnly, settingsIn, trustIn } from './entry-in.ts';
import { refuseChangeByModel } from './for-models.ts';
import type { Given } from './given-servers.ts';
import { maskedEntry, unmasked } from './masked-entry.ts';
import { mergeEntry } from './merge-entry.ts';
import type { MergedEntry } from './merge-entry.ts';
import { planAddition } from './plan-addition.ts';

export interface ServerChangesDeps {
  /** The configuration; absolute. */
  readonly file: string;
  readonly version: string;
  readonly places: Places;
  /** How this very program is met in a configuration of this text. */
  readonly own: (configText: string) => OwnProgram;
  /** Where changes are kept instead of the file, for all gateways that share them. */
  readonly shared?: SharedConfig | undefined;
  /** Where is kept which project configurations are trusted. */
  readonly trustDir: string;
  /** Makes the running gateway use what is in the file now. */
  readonly applied: () => Promise<Applied>;
  readonly record: (event: AuditEvent) => void;
  /** Whether a server that is run like this was approved before. */
  readonly isApproved: (name: UpstreamName, fingerprint: Fingerprint) => Promise<boolean>;
  /** What else is kept about a server that is gone. */
  readonly onRemoved?: (name: string) => void;
}

/** A configuration whose servers are changed elsewhere than in its file. */
export interface SharedConfig {
  /** As it is in use. */
  text(): Promise<string>;
  read(): Promise<ConfigDocument>;
  /** Gives the text as it is afterwards; a conflict where somebody was faster. */
  save(document: ConfigDocument, edits: readonly ConfigEdit[]): Promise<string>;
}

/** Under which conditions something is changed, and by whom. */
export interface ChangeOptions {
  readonly by: ChangedBy;
  /** The revision that was looked at; another one is a conflict. */
  readonly expected?: string | undefined;
}

export interface AddOptions extends ChangeOptions {
  /** Only says what would happen. */
  readonly dryRun?: boolean | undefined;
  /** Whether a server of the same name is replaced. */
  readonly replace?: boolean | undefined;
}

/** Every change of servers by program: what commands, the admin API and models do is done here. */
export class ServerChanges {
  readonly #deps: ServerChangesDeps;
  /** One after the other, so that those of one process never meet. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: ServerChangesDeps) {
    this.#deps = deps;
  }

  /** Also of a file that cannot be used; why it cannot is told elsewhere. */
  async state(): Promise<ConfigState> {
    const { file } = this.#deps;
    const reading = this.#deps.shared?.text() ?? readConfigText(file);
    const text = await reading.catch(() => '');
    return { file, revision: this.#revision(text), ...settingsIn(text) };
  }

  /** The entry as it stands in the file, without secrets. */
  async entry(name: string, by?: ChangedBy): Promise<ServerEntryShown> {
    const document = await this.#inUse();
    return this.#shown(document, name, entryIn(document, name, by));
  }

  /** All of them that are objects, whether they can be used or not. */
  async entries(): Promise<readonly ServerEntryShown[]> {
    const document = await this.#inUse();
    return [...document.servers].flatMap(([name, entry]) =>
      isJsonObject(entry) ? [this.#shown(document, name, entry)] : [],
    );
  }

  add(given: Given, options: AddOptions): Promise<AddedServers> {
    return this.#inTurn(async () => {
      const { by, dryRun = false } = options;
      const { places, own } = this.#deps;
      const document = await this.#document(options, { isChange: !dryRun });
      const plan = planAddition(given, {
        ...{ document, by, places, own: own(document.text) },
        replace: options.replace === true,
        ending: () => randomBytes(3).toString('hex'),
      });
      const results = plan.map(({ edit: _, ...result }) => result);
      const edits = plan.flatMap(({ edit }) => edit ?? []);
      if (dryRun || edits.length === 0)
        return { dryRun, results, applied: UNCHANGED, revision: this.#revision(document.text) };
      const revision = await this.#save(document, edits);
      for (const { name, result, trust } of results)
        if (result === 'added') this.#record('add', by, name, { trust });
      return { dryRun, results, applied: await this.#deps.applied(), revision };
    });
  }

  /** Merges changes into an entry; null deletes a key, and what was shown masked stays what it is. */
  update(name: string, changes: JsonObject, options: ChangeOptions): Promise<ChangedServer> {
    return this.#inTurn(async () => {
      const { by } = options;
      const document = await this.#document(options);
      const current = entryIn(document, name, by);
      if (by.is === 'model') refuseChangeByModel(changes);
      const wanted = mergeEntry(current, unmasked(changes, current), ['mcpServers', name]);
      if (wanted.edits.length === 0) return this.#unchanged(document, name);
      const { merged, isHeld } = await this.#checked(document, name, { current, wanted, by });
      const revision = await this.#save(document, merged.edits);
      this.#record('update', by, name, { keys: merged.changed, ...(isHeld && { held: true }) });
      return { name, changed: merged.changed, isHeld, applied: await this.#deps.applied(), revision };
    });
  }

  remove(name: string, options: ChangeOptions): Promise<ChangedServer> {
    return this.#inTurn(async () => {
      const document = await this.#document(options);
      entryIn(document, name, options.by);
      const revision = await this.#save(document, [{ path: ['mcpServers', name], value: undefined }]);
      this.#record('remove', options.by, name, {});
      const applied = await this.#deps.applied();
      this.#deps.onRemoved?.(name);
      return { name, changed: [], isHeld: false, applied, revision };
    });
  }

  enable(name: string, options: ChangeOptions): Promise<ChangedServer> {
    return this.#switch(name, true, options);
  }

  disable(name: string, options: ChangeOptions): Promise<ChangedServer> {
    return this.#switch(name, false, options);
  }

  #switch(name: string, wanted: boolean, options: ChangeOptions): Promise<ChangedServer> {
    return this.#inTurn(async () => {
      const document = await this.#document(options);
      const entry = entryIn(document, name, options.by);
      if (isOn(entry) === wanted) return this.#unchanged(document, name);
      const path = ['mcpServers', name] as const;
      const isHeld = wanted && (await this.#isUnseen(name, entry, options.by));
      // Being used is the default, so nothing has to say it.
      const revision = await this.#save(document, [
        { path: [...path, 'disabled'], value: undefined },
        { path: [...path, 'enabled'], value: wanted ? undefined : false },
        ...(isHeld ? [heldEdit(name)] : []),
      ]);
      this.#record(wanted ? 'enable' : 'disable', options.by, name, isHeld ? { held: true } : {});
      const changed = isHeld ? ['enabled', 'trust'] : ['enabled'];
      return { name, changed, isHeld, applied: await this.#deps.applied(), revision };
    });
  }

  /** The entry as it would be, held where it is run in another way and no person says so. */
  async #checked(
    document: ConfigDocument,
    name: string,
    change: { readonly current: JsonObject; readonly wanted: MergedEntry; readonly by: ChangedBy },
  ): Promise<{ readonly merged: MergedEntry; readonly isHeld: boolean }> {
    const { current, wanted, by } = change;
    const { file } = document;
    const [before, after] = [readEntry(name, current, file), readEntry(name, wanted.entry, file)];
    if ('problem' in after) throw refused(name, after.problem);
    if (ownEntry(wanted.entry, this.#deps.own(document.text)) !== undefined)
      throw refused(name, 'it would be Trunkline itself');
    const wasManual = trustIn(current) === 'manual';
    if (by.is !== 'person' && wasManual && after.upstream.trust !== 'manual')
      throw new GatewayError('ARGUMENTS_REFUSED', `Only a person can take "trust": "manual" from "${name}".`);
    const isOther =
      'problem' in before ||
      before.upstream.fingerprint !== after.upstream.fingerprint ||
      (!isOn(current) && isOn(wanted.entry) && (await this.#isUnseen(name, wanted.entry, by)));
    if (!isOther || after.upstream.trust === 'manual') return { merged: wanted, isHeld: isOther };
    if (by.is === 'person') return { merged: wanted, isHeld: false };
    const merged = {
      ...wanted,
      edits: [...wanted.edits, heldEdit(name)],
      changed: [...wanted.changed, 'trust'],
    };
    return { merged, isHeld: true };
  }

  /** Whether a model would be the first to have this server run as it is written. */
  async #isUnseen(name: string, entry: JsonObject, by: ChangedBy): Promise<boolean> {
    if (by.is !== 'model' || trustIn(entry) === 'manual') return false;
    const read = readEntry(name, entry, this.#deps.file);
    if ('problem' in read) return true;
    return !(await this.#deps.isApproved(read.upstream.name, read.upstream.fingerprint));
  }

  async #document({ expected }: ChangeOptions, { isChange = true } = {}): Promise<ConfigDocument> {
    const document = await this.#read();
    const { file, text } = document;
    if (isChange) refuseReadOnly(document);
    if (expected !== undefined && !(await this.#isCurrent(expected, text)))
      throw new GatewayError(
        'REVISION_CONFLICT',
        `${file} was changed by somebody else meanwhile, and was left as it is now; look at it again.`,
        { details: { file } },
      );
    return document;
  }

  /** Who looked at the file alone has seen all that could be seen there. */
  async #isCurrent(expected: string, text: string): Promise<boolean> {
    const { shared, file } = this.#deps;
    if (expected === this.#revision(text)) return true;
    return shared !== undefined && expected === this.#revision(await readConfigText(file));
  }

  /** To be looked at; also while what is shared cannot be changed. */
  async #inUse(): Promise<ConfigDocument> {
    const { file, shared } = this.#deps;
    return shared === undefined ? readForEdit(file) : documentFrom(file, await shared.text());
  }

  #read(): Promise<ConfigDocument> {
    return this.#deps.shared?.read() ?? readForEdit(this.#deps.file);
  }

  async #save(document: ConfigDocument, edits: readonly ConfigEdit[]): Promise<string> {
    const { trustDir, version, shared } = this.#deps;
    if (shared !== undefined) return this.#revision(await shared.save(document, edits));
    const { text } = await keepTrust(document, trustDir, () => editConfig(document, edits, version));
    return this.#revision(text);
  }

  #shown({ text }: ConfigDocument, name: string, entry: JsonObject): ServerEntryShown {
    const revision = this.#revision(text);
    return { name, entry: maskedEntry(entry), revision, enabled: isOn(entry), trust: trustIn(entry) };
  }

  #unchanged({ text }: ConfigDocument, name: string): ChangedServer {
    return { name, changed: [], isHeld: false, applied: UNCHANGED, revision: this.#revision(text) };
  }

  /** Which keys, never what they say. */
  #record(action: string, by: ChangedBy, server: string, details: JsonObject): void {
    this.#deps.record({
      ...{ kind: 'config', action, caller: by.caller, server },
      details: { by: by.is, ...details },
    });
  }

  #revision(text: string): string {
    return configRevision(text, this.#deps.version);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {}); // Whoever asked for it hears of it.
    return turn;
  }
}

const UNCHANGED: Applied = { state: 'unchanged' };

function heldEdit(name: string): ConfigEdit {
  return { path: ['mcpServers', name, 'trust'], value: 'manual' };
}

function refused(name: string, why: string): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', `Server "${name}" cannot be changed like this: ${why}.`, {
    details: { server: name },
  });
}
