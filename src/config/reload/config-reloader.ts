import { coalesce } from '../../core/lib/coalesce.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ConfigSnapshot } from '../config.ts';
import { toConfigProblem } from './config-state.ts';
import type { ConfigProblem, ConfigState } from './config-state.ts';
import { diffConfig } from './diff-config.ts';
import type { ConfigDiff } from './diff-config.ts';
import { addFileChanges, hashReferencedFiles } from './referenced-files.ts';
import type { ReferencedFiles } from './referenced-files.ts';

/** A valid configuration that is about to be applied. */
export interface NextConfig {
  readonly snapshot: ConfigSnapshot;
  readonly text: string;
  readonly diff: ConfigDiff;
}

interface ReloaderDeps {
  /** The configuration that is active at the start. */
  readonly first: ConfigSnapshot;
  /** Replaces `~` in paths. */
  readonly home: string;
  readonly read: () => Promise<string>;
  /** Must return a snapshot with the revision that `revisionOf` returns for the text. */
  readonly validate: (text: string) => Promise<ConfigSnapshot>;
  readonly revisionOf: (text: string) => string;
  /** Rejects if the user has not trusted this text with its guards; absent if no trust is needed. */
  readonly checkTrust?: ((text: string) => Promise<void>) | undefined;
  /** Applies the configuration as a whole, or rejects and changes nothing. Resolves to the settings that need a restart. */
  readonly apply: (next: NextConfig) => Promise<readonly string[]>;
  readonly onState: (state: ConfigState) => void;
  readonly log: {
    info(message: string, fields: JsonObject): void;
    warn(message: string, fields: JsonObject): void;
  };
  readonly now: () => number;
}

/** Applies changes of the configuration file. If the new text is invalid, reports that and keeps the active configuration. */
export class ConfigReloader {
  readonly #deps: ReloaderDeps;
  readonly #run: () => Promise<void>;
  #lastRun: Promise<void> = Promise.resolve();
  #isClosed = false;
  #snapshot: ConfigSnapshot;
  #state: ConfigState;
  #referencedFiles: Promise<ReferencedFiles>;

  constructor(deps: ReloaderDeps) {
    const { first } = deps;
    this.#deps = deps;
    this.#snapshot = first;
    this.#state = { file: first.file, revision: first.revision, since: deps.now(), needsRestart: [] };
    this.#referencedFiles = hashReferencedFiles(first, deps.home);
    this.#run = coalesce(() => this.#reloadOrReport());
  }

  get snapshot(): ConfigSnapshot {
    return this.#snapshot;
  }

  get state(): ConfigState {
    return this.#state;
  }

  /** Reads the file now. Resolves when its configuration is active, or `state.problem` explains why it is not. */
  reload(): Promise<void> {
    if (!this.#isClosed) this.#lastRun = this.#run();
    return this.#lastRun;
  }

  /** Prevents further reloads, and resolves when the running one has finished. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lastRun;
  }

  async #reloadOrReport(): Promise<void> {
    try {
      await this.#reload();
    } catch (error) {
      this.#reportProblem(toConfigProblem(error, this.#state.file));
    }
  }

  async #reload(): Promise<void> {
    const { read, revisionOf, validate, checkTrust, apply, home } = this.#deps;
    const text = await read();
    const isSameText = revisionOf(text) === this.#snapshot.revision;
    if (!isSameText) await checkTrust?.(text);
    const snapshot = isSameText ? this.#snapshot : await validate(text);
    const [before, after] = [await this.#referencedFiles, await hashReferencedFiles(snapshot, home)];
    const diff = addFileChanges(diffConfig(this.#snapshot, snapshot), snapshot, { before, after, home });
    // A changed guard runs other code, although the text of the configuration is the same.
    if (isSameText && diff.settings.includes('guards')) await checkTrust?.(text);
    const isUnchanged = isSameText && diff.reopened.length + diff.settings.length === 0;
    // The gateway has already applied this write, or the change was reverted.
    if (isUnchanged) return this.#clearProblem();
    const needsRestart = await apply({ snapshot, text, diff });
    this.#referencedFiles = Promise.resolve(after);
    this.#snapshot = snapshot;
    this.#reportApplied(diff, needsRestart);
  }

  #reportApplied(diff: ConfigDiff, needsRestart: readonly string[]): void {
    const { file, revision, warnings } = this.#snapshot;
    const { now, log } = this.#deps;
    this.#setState({ file, revision, since: now(), needsRestart });
    const { added, reopened, adjusted, left, settings } = diff;
    log.info('Applied the changed configuration.', { file, added, reopened, adjusted, left, settings });
    for (const { file: source, line, column, message } of warnings) {
      log.warn('Ignored a part of the changed configuration.', {
        file: `${source}:${line}:${column}`,
        reason: message,
      });
    }
    if (needsRestart.length > 0) {
      log.warn('Some changed settings need a restart of the gateway.', { file, settings: needsRestart });
    }
  }

  #clearProblem(): void {
    const { problem, ...state } = this.#state;
    if (problem !== undefined) this.#setState(state);
  }

  #reportProblem(problem: ConfigProblem): void {
    if (problem.message === this.#state.problem?.message) return;
    const { message: reason, ...position } = problem;
    this.#deps.log.warn('The changed configuration cannot be used; the previous one stays active.', {
      ...position,
      reason,
    });
    this.#setState({ ...this.#state, problem });
  }

  #setState(state: ConfigState): void {
    this.#state = state;
    this.#deps.onState(state);
  }
}
