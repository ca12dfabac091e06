import { coalesce } from '../../lib/coalesce.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ConfigSnapshot } from '../config.ts';
import { configProblem } from './config-state.ts';
import type { ConfigProblem, ConfigState } from './config-state.ts';
import { diffConfig } from './diff-config.ts';
import type { ConfigDiff } from './diff-config.ts';
import { readSideFiles, withSideFiles } from './side-files.ts';
import type { SideFiles } from './side-files.ts';

/** A configuration on its way into use. */
export interface NextConfig {
  readonly snapshot: ConfigSnapshot;
  readonly text: string;
  readonly diff: ConfigDiff;
}

interface ReloadDeps {
  /** What is in use. */
  readonly first: ConfigSnapshot;
  /** What `~` stands for in paths. */
  readonly home: string;
  readonly read: () => Promise<string>;
  /** Must give an equal revision for an equal text. */
  readonly validate: (text: string) => Promise<ConfigSnapshot>;
  readonly revisionOf: (text: string) => string;
  /** Throws when the person has not agreed to this text; absent where none has to. */
  readonly checkTrust?: ((text: string) => Promise<void>) | undefined;
  /** Takes it into use, or throws and leaves everything as it was. Gives the settings that need a restart. */
  readonly apply: (next: NextConfig) => Promise<readonly string[]>;
  readonly onState: (state: ConfigState) => void;
  readonly log: {
    info(message: string, fields: JsonObject): void;
    warn(message: string, fields: JsonObject): void;
  };
  readonly now: () => number;
}

/** Takes changes of the configuration file into use. One that cannot be used changes nothing and is told about. */
export class ConfigReload {
  readonly #deps: ReloadDeps;
  readonly #run: () => Promise<void>;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;
  #snapshot: ConfigSnapshot;
  #state: ConfigState;
  #sideFiles: Promise<SideFiles>;

  constructor(deps: ReloadDeps) {
    const { first } = deps;
    this.#deps = deps;
    this.#snapshot = first;
    this.#state = { file: first.file, revision: first.revision, since: deps.now(), needsRestart: [] };
    this.#sideFiles = readSideFiles(first, deps.home);
    this.#run = coalesce(() => this.#look());
  }

  get snapshot(): ConfigSnapshot {
    return this.#snapshot;
  }

  get state(): ConfigState {
    return this.#state;
  }

  /** Reads the file now; resolves when what it says is in use, or the state says why it is not. */
  look(): Promise<void> {
    if (!this.#isClosed) this.#looking = this.#run();
    return this.#looking;
  }

  /** Resolves when nothing is being taken into use, and nothing will be. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#looking;
  }

  async #look(): Promise<void> {
    try {
      await this.#reload();
    } catch (error) {
      this.#refuse(configProblem(error, this.#state.file));
    }
  }

  async #reload(): Promise<void> {
    const { read, revisionOf, validate, checkTrust, apply, home } = this.#deps;
    const text = await read();
    const isSameText = revisionOf(text) === this.#snapshot.revision;
    if (!isSameText) await checkTrust?.(text);
    const snapshot = isSameText ? this.#snapshot : await validate(text);
    const [before, after] = [await this.#sideFiles, await readSideFiles(snapshot, home)];
    const diff = withSideFiles(diffConfig(this.#snapshot, snapshot), snapshot, { before, after, home });
    const isSame = isSameText && diff.reopened.length + diff.settings.length === 0;
    // Our own writes, and those that were taken back, end here.
    if (isSame) return this.#mended();
    const needsRestart = await apply({ snapshot, text, diff });
    this.#sideFiles = Promise.resolve(after);
    this.#snapshot = snapshot;
    this.#applied(diff, needsRestart);
  }

  #applied(diff: ConfigDiff, needsRestart: readonly string[]): void {
    const { file, revision, warnings } = this.#snapshot;
    const { now, log } = this.#deps;
    this.#set({ file, revision, since: now(), needsRestart });
    const { added, reopened, adjusted, left, settings } = diff;
    log.info('A changed configuration is in use.', { file, added, reopened, adjusted, left, settings });
    for (const { file: where, line, column, message } of warnings)
      log.warn('Something in the changed configuration is not used.', {
        file: `${where}:${line}:${column}`,
        reason: message,
      });
    if (needsRestart.length > 0)
      log.warn('Some changed settings need a restart of the gateway.', { file, settings: needsRestart });
  }

  /** The file says what is in use. */
  #mended(): void {
    const { problem: _, ...state } = this.#state;
    if (this.#state.problem !== undefined) this.#set(state);
  }

  #refuse(problem: ConfigProblem): void {
    if (problem.message === this.#state.problem?.message) return;
    const { message: reason, ...place } = problem;
    this.#deps.log.warn('A changed configuration cannot be used; what was in use before stays.', {
      ...place,
      reason,
    });
    this.#set({ ...this.#state, problem });
  }

  #set(state: ConfigState): void {
    this.#state = state;
    this.#deps.onState(state);
  }
}
