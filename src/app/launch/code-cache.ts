import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isSafeOwner } from './is-safe-owner.ts';

/** The lifetime of the process that stored the code. A short-lived process has compiled little of the code that a gateway needs. */
export type ProcessLifetime = 'short' | 'long';

export interface CachedCode {
  readonly code: Buffer;
  readonly writtenBy: ProcessLifetime;
}

interface CodeCacheOptions {
  /** The parent folder must exist. */
  readonly folder: string;
  /** Identifies the Node version and the build of the code. */
  readonly stamp: string;
  readonly pid: number;
  /** User id whose files are trusted; undefined on Windows. */
  readonly user: number | undefined;
}

const DIGEST_BYTES = 32;
/** Maximum size of a cache file. The cached code of our largest file has half a megabyte. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Number of builds whose code stays in the cache. */
const MAX_BUILDS = 4;
/** The byte after the digest, which encodes the lifetime of the process. */
const MARKS: Readonly<Record<ProcessLifetime, number>> = { short: 1, long: 2 };

/**
 * Stores the code that V8 compiled from the files of the program. Losing the cache costs only time. V8 trusts every byte of cached code and
 * compares only the length of the source, so each cache file begins with a digest of the source and of the rest of the file.
 */
export class CodeCache {
  readonly #options: CodeCacheOptions;
  readonly #folder: string;

  constructor(options: CodeCacheOptions) {
    this.#options = options;
    this.#folder = join(options.folder, options.stamp);
  }

  /** Returns the cached code; undefined if there is none for this source, or if another user may have written it. */
  read(name: string, source: Buffer): CachedCode | undefined {
    let bytes: Buffer;
    try {
      const file = openSync(join(this.#folder, name), 'r');
      try {
        const found = fstatSync(file);
        if (!isSafeOwner(found, this.#options.user) || found.size > MAX_BYTES) return undefined;
        bytes = readFileSync(file);
      } finally {
        closeSync(file);
      }
    } catch {
      return undefined; // The file is missing or unreadable, so the source is compiled.
    }
    const rest = bytes.subarray(DIGEST_BYTES);
    if (!this.#digest(source, rest).equals(bytes.subarray(0, DIGEST_BYTES))) return undefined;
    return { code: rest.subarray(1), writtenBy: rest[0] === MARKS.long ? 'long' : 'short' };
  }

  /** Stores code; throws if that fails. Does not sync to disk, because the digest reveals a file that a crash truncated. */
  write(name: string, source: Buffer, { code, writtenBy }: CachedCode): void {
    const { folder, pid } = this.#options;
    makeFolder(folder);
    if (makeFolder(this.#folder)) removeOldest(folder);
    const rest = Buffer.concat([Buffer.of(MARKS[writtenBy]), code]);
    const path = join(this.#folder, name);
    const temporary = `${path}.${pid}.tmp`;
    try {
      writeFileSync(temporary, Buffer.concat([this.#digest(source, rest), rest]), { mode: 0o600 });
      renameSync(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  #digest(source: Buffer, rest: Buffer): Buffer {
    return createHash('sha256').update(`${this.#options.stamp}\0`).update(source).update(rest).digest();
  }
}

function removeOldest(folder: string): void {
  const builds = readdirSync(folder).map((name) => join(folder, name));
  const byAge = builds.map((path) => ({ path, at: statSync(path).mtimeMs })).toSorted((a, b) => b.at - a.at);
  for (const { path } of byAge.slice(MAX_BUILDS)) rmSync(path, { recursive: true, force: true });
}

/** Creates the folder. Returns false if it existed. */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
