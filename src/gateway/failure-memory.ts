import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { GatewayError, isErrorCode } from '../core/errors.ts';
import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { coalesce } from '../core/lib/coalesce.ts';
import { writeFileAtomic } from '../core/lib/write-file-atomic.ts';
import type { Logger } from '../observability/log.ts';

interface FailureMemoryOptions {
  /** Masks the secrets of the server, which its output may contain. */
  readonly mask: (server: string, text: string) => string;
  readonly log?: Logger | undefined;
}

interface ServerIdentity {
  readonly name: UpstreamName;
  readonly fingerprint: Fingerprint;
}

/** The details of an error that are kept, because commands show them. */
const KEPT_DETAILS = ['reason', 'summary', 'fix'] as const;
/**
 * Failures that a preflight check finds again, and decisions of a person, are not kept: both may change without a start of the server.
 * A connection that was lost during a call says nothing about the next one.
 */
const SKIPPED_CODES: ReadonlySet<string> = new Set([
  'SECRET_MISSING',
  'QUARANTINED',
  'SHUTTING_DOWN',
  'UPSTREAM_CLOSED',
  'CALL_CANCELLED',
]);
const SKIPPED_REASONS: ReadonlySet<unknown> = new Set(['program-missing', 'folder-missing']);

/**
 * Remembers, in a file of the state folder, why servers failed, so that commands report the same with and without a running gateway. A
 * failure is valid until the server connects or its configuration changes.
 */
export class FailureMemory implements AsyncDisposable {
  readonly #file: string;
  readonly #log: Logger | undefined;
  readonly #mask: FailureMemoryOptions['mask'];
  readonly #changes = new Map<string, JsonObject | undefined>();
  readonly #write = coalesce(() => this.#writeNow());
  #known: Map<string, JsonObject> | undefined;

  constructor(stateDir: string, { mask, log }: FailureMemoryOptions) {
    this.#file = join(stateDir, 'failures.json');
    this.#mask = mask;
    this.#log = log;
  }

  get({ name, fingerprint }: ServerIdentity): GatewayError | undefined {
    const { config, code, message, ...details } = this.#read().get(name) ?? {};
    if (config !== fingerprint || !isErrorCode(code) || typeof message !== 'string') return undefined;
    return new GatewayError(code, message, { details: { upstream: name, ...details } });
  }

  remember({ name, fingerprint }: ServerIdentity, { code, message, details }: GatewayError): void {
    const isSkipped =
      SKIPPED_CODES.has(code) || SKIPPED_REASONS.has(details['reason']) || details['isInstalling'] === true;
    if (isSkipped) return;
    const masked = Object.fromEntries(
      Object.entries({ message, ...pick(details) }).map(([key, text]) => [key, this.#mask(name, text)]),
    );
    const entry: JsonObject = { config: fingerprint, code, ...masked };
    const known = this.#read().get(name);
    // A failure that only repeats is not written again.
    if (known?.['config'] === fingerprint && known['message'] === masked['message']) return;
    this.#change(name, entry);
  }

  forget(name: string): void {
    if (this.#read().has(name)) this.#change(name, undefined);
  }

  /** Writes pending changes. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#write();
  }

  #change(name: string, entry: JsonObject | undefined): void {
    const known = this.#read();
    if (entry === undefined) known.delete(name);
    else known.set(name, entry);
    this.#changes.set(name, entry);
    void this.#write();
  }

  #read(): Map<string, JsonObject> {
    this.#known ??= readFailures(this.#file);
    return this.#known;
  }

  /** Applies the changes to the current file, because other processes write it, too. Never rejects. */
  async #writeNow(): Promise<void> {
    if (this.#changes.size === 0) return;
    const failures = readFailures(this.#file);
    for (const [name, entry] of this.#changes) {
      if (entry === undefined) failures.delete(name);
      else failures.set(name, entry);
    }
    this.#changes.clear();
    try {
      await writeFileAtomic(this.#file, `${JSON.stringify(Object.fromEntries(failures))}\n`, 0o600);
    } catch (error) {
      this.#log?.debug('Cannot remember the failures of servers.', { reason: String(error) });
    }
  }
}

/** Returns the stored failures; none if the file does not exist or is damaged, because they are only hints. */
function readFailures(file: string): Map<string, JsonObject> {
  try {
    const stored: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const entries = isJsonObject(stored) ? Object.entries(stored) : [];
    return new Map(entries.flatMap(([name, entry]) => (isJsonObject(entry) ? [[name, entry] as const] : [])));
  } catch {
    return new Map();
  }
}

function pick(details: JsonObject): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const key of KEPT_DETAILS) if (typeof details[key] === 'string') kept[key] = details[key];
  return kept;
}
