import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from '../../core/lib/write-file-atomic.ts';
import { makeFolder } from '../../core/lib/make-folder.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';

/** One change of a client's file. */
export interface ConnectionRecord {
  readonly file: string;
  /** A copy of the file before the change; undefined if there was no file. */
  readonly backup?: string | undefined;
  /** Hash of the content that was written. */
  readonly after: string;
  /** Names of the entries that were written; absent in records of older versions, which wrote one entry. */
  readonly written?: readonly string[] | undefined;
  /** When the file was changed, as ISO 8601; absent in records of older versions. */
  readonly at?: string | undefined;
}

/** Records the changes of `trunkline connect`, the newest last, so that they can be undone byte for byte. */
export class ConnectionHistory {
  readonly #folder: string;

  constructor(stateDir: string) {
    this.#folder = join(stateDir, 'connected');
  }

  async records(client: string): Promise<readonly ConnectionRecord[]> {
    const text = await readFile(this.#file(client), 'utf8').catch(() => undefined);
    if (text === undefined) return [];
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      const message = `${this.#file(client)} is damaged, so the change cannot be undone automatically; restore the client's file from the backup next to it`;
      throw new GatewayError('STORE_CORRUPT', message, { cause: error });
    }
    const isRecord = (item: unknown): boolean =>
      isJsonObject(item) && typeof item['file'] === 'string' && typeof item['after'] === 'string';
    return (Array.isArray(value) ? value.filter(isRecord) : []) as ConnectionRecord[]; // Every item was checked.
  }

  /** Returns the ids of the clients that have records, sorted. */
  async clients(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names
      .filter((name) => name.endsWith('.json'))
      .map((name) => name.slice(0, -'.json'.length))
      .toSorted();
  }

  /** Saves a backup, then writes the file. Rejects if the file has changed since it was read. */
  async write(
    client: string,
    change: {
      readonly file: string;
      readonly before: Buffer | undefined;
      readonly after: string;
      readonly written: readonly string[];
    },
    now: Date,
  ): Promise<ConnectionRecord> {
    const { file, before, after, written } = change;
    const backup = join(this.#folder, `${client}.${now.toISOString().replaceAll(/[:.]/g, '-')}.bak`);
    if (before !== undefined) await writeFileAtomic(backup, before, 0o600);
    await replaceFile(file, before, Buffer.from(after));
    const hash = computeHash(Buffer.from(after));
    const record = {
      file,
      backup: before === undefined ? undefined : backup,
      after: hash,
      written,
      at: now.toISOString(),
    };
    await this.#save(client, [...(await this.records(client)), record]);
    return record;
  }

  /** Restores the file byte for byte, and removes the record. Rejects if the file has changed since `write`. */
  async undo(client: string, record: ConnectionRecord): Promise<void> {
    const current = await readFileIfPresent(record.file);
    const before = await this.before(record);
    if (current === undefined || computeHash(current) !== record.after)
      throw changedFileError(client, record);
    await replaceFile(record.file, current, before);
    await this.forget(client);
  }

  /** Returns the content of the file before the change; undefined if there was no file. */
  async before({ backup }: ConnectionRecord): Promise<Buffer | undefined> {
    return backup === undefined ? undefined : readFile(backup);
  }

  /** Removes the newest record; its backup stays. */
  async forget(client: string): Promise<void> {
    await this.#save(client, (await this.records(client)).slice(0, -1));
  }

  async #save(client: string, records: readonly ConnectionRecord[]): Promise<void> {
    if (records.length === 0) return rm(this.#file(client), { force: true });
    await writeFileAtomic(this.#file(client), `${JSON.stringify(records, null, 2)}\n`, 0o600);
  }

  #file(client: string): string {
    return join(this.#folder, `${client}.json`);
  }
}

/** Returns undefined if the file does not exist. */
export async function readFileIfPresent(file: string): Promise<Buffer | undefined> {
  return readFile(file).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** Replaces a file whose content is still `before`. Deletes it if `after` is undefined. */
export async function replaceFile(
  file: string,
  before: Buffer | undefined,
  after: Buffer | undefined,
): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const current = await readFileIfPresent(target);
  const isUnchanged = current === undefined ? before === undefined : before?.equals(current) === true;
  if (!isUnchanged) {
    throw new GatewayError(
      'REVISION_CONFLICT',
      `${file} was changed by another program in the meantime; run the command again`,
    );
  }
  if (after === undefined) return rm(target);
  await makeFolder(dirname(target));
  const mode = current === undefined ? 0o600 : (await stat(target)).mode & 0o777;
  await writeFileAtomic(target, after, mode);
}

function changedFileError(client: string, { file, backup }: ConnectionRecord): GatewayError {
  const original =
    backup === undefined ? 'There was no such file before.' : `The original file is in ${backup}.`;
  return new GatewayError(
    'REVISION_CONFLICT',
    `${file} has changed since Trunkline was connected, so it was not restored. \`trunkline connect ${client} --undo --merge\` restores the servers and keeps the other changes. ${original}`,
    { details: { file, backup } },
  );
}

function computeHash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
