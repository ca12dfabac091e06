import { createHash } from 'node:crypto';
import { readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from '../lib/atomic-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { GatewayError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';

/** One change of a client's file. */
export interface ConnectionRecord {
  readonly file: string;
  /** The copy of the file as it was; undefined where there was none. */
  readonly backup?: string;
  /** Hash of what was written. */
  readonly after: string;
}

/** What `connect` changed, newest last, so that it can be undone to the byte. */
export class Connections {
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
      const message = `${this.#file(client)} cannot be read; the copies of the client's file are next to it`;
      throw new GatewayError('STORE_CORRUPT', message, { cause: error });
    }
    const isRecord = (each: unknown): boolean =>
      isJsonObject(each) && typeof each['file'] === 'string' && typeof each['after'] === 'string';
    return (Array.isArray(value) ? value.filter(isRecord) : []) as ConnectionRecord[]; // Each was looked at.
  }

  /** Keeps a copy, then writes; refuses when the file is not what it was when it was read. */
  async write(
    client: string,
    {
      file,
      before,
      after,
    }: { readonly file: string; readonly before: Buffer | undefined; readonly after: string },
    now: Date,
  ): Promise<ConnectionRecord> {
    const backup = join(this.#folder, `${client}.${now.toISOString().replaceAll(/[:.]/g, '-')}.bak`);
    if (before !== undefined) await writeFileAtomic(backup, before, 0o600);
    await replace(file, before, Buffer.from(after));
    const record = { file, ...(before !== undefined && { backup }), after: digest(Buffer.from(after)) };
    await this.#save(client, [...(await this.records(client)), record]);
    return record;
  }

  /** Puts the file back to the byte; throws a conflict when somebody else has changed it since. */
  async undo(client: string, record: ConnectionRecord): Promise<void> {
    const now = await bytesOf(record.file);
    const before = await this.before(record);
    if (now === undefined || digest(now) !== record.after) throw changed(client, record);
    await replace(record.file, now, before);
    await this.forget(client);
  }

  /** The file as it was; undefined where there was none. */
  async before({ backup }: ConnectionRecord): Promise<Buffer | undefined> {
    return backup === undefined ? undefined : readFile(backup);
  }

  /** Forgets the newest change; its copy stays. */
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

/** Undefined where there is no such file. */
export async function bytesOf(file: string): Promise<Buffer | undefined> {
  return readFile(file).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** Replaces a file that is still what it was; without a new content it goes. */
export async function replace(
  file: string,
  before: Buffer | undefined,
  after: Buffer | undefined,
): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const now = await bytesOf(target);
  if (now === undefined ? before !== undefined : before === undefined || !now.equals(before))
    throw new GatewayError(
      'REVISION_CONFLICT',
      `${file} was changed by somebody else meanwhile; run the command again`,
    );
  if (after === undefined) return rm(target);
  await makeFolder(dirname(target));
  const mode = now === undefined ? 0o600 : (await stat(target)).mode & 0o777;
  await writeFileAtomic(target, after, mode);
}

function changed(client: string, { file, backup }: ConnectionRecord): GatewayError {
  const copy = backup === undefined ? 'There was no such file before.' : `As it was, it is in ${backup}.`;
  return new GatewayError(
    'REVISION_CONFLICT',
    `${file} has changed since, and was left as it is now. \`trunkline connect ${client} --undo --merge\` puts the servers back and keeps the other changes. ${copy}`,
    { details: { file, ...(backup !== undefined && { backup }) } },
  );
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
