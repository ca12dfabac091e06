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
import { isOfUser } from './is-of-user.ts';

/** How long a process ran that kept it: one that ended soon has compiled little of what a gateway needs. */
export type Kept = 'brief' | 'lasting';

export interface KeptCode {
  readonly code: Buffer;
  readonly by: Kept;
}

interface CodeCacheOptions {
  /** Its parent has to be there. */
  readonly folder: string;
  /** Says what the code was made by and for. */
  readonly stamp: string;
  readonly pid: number;
  /** Whose files are believed; undefined where users have no numbers. */
  readonly user: number | undefined;
}

const DIGEST_BYTES = 32;
/** The largest of ours has half a megabyte. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Of this build and others that are used in turns. */
const MAX_BUILDS = 4;
const MARKS: Readonly<Record<Kept, number>> = { brief: 1, lasting: 2 };

/**
 * What V8 made of the files of the program. Derived: losing it costs time only. V8 believes every byte of it and compares no more of the
 * source than its length, so that each file begins with a digest of the source and of all that follows.
 */
export class CodeCache {
  readonly #options: CodeCacheOptions;
  readonly #folder: string;

  constructor(options: CodeCacheOptions) {
    this.#options = options;
    this.#folder = join(options.folder, options.stamp);
  }

  /** Undefined when there is none for this source, or another user may have written it. */
  read(name: string, source: Buffer): KeptCode | undefined {
    let bytes: Buffer;
    try {
      const file = openSync(join(this.#folder, name), 'r');
      try {
        const found = fstatSync(file);
        if (!isOfUser(found, this.#options.user) || found.size > MAX_BYTES) return undefined;
        bytes = readFileSync(file);
      } finally {
        closeSync(file);
      }
    } catch {
      return undefined; // Missing, or unreadable: then it is compiled.
    }
    const rest = bytes.subarray(DIGEST_BYTES);
    if (!this.#digest(source, rest).equals(bytes.subarray(0, DIGEST_BYTES))) return undefined;
    return { code: rest.subarray(1), by: rest[0] === MARKS.lasting ? 'lasting' : 'brief' };
  }

  /** Throws where it cannot be written. Not synchronised with the disk: what a crash leaves of it has another digest. */
  write(name: string, source: Buffer, { code, by }: KeptCode): void {
    const { folder, pid } = this.#options;
    makeFolder(folder);
    if (makeFolder(this.#folder)) removeOldest(folder);
    const rest = Buffer.concat([Buffer.of(MARKS[by]), code]);
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

/** Whether it was missing. */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
