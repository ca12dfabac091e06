import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import type { CodeCache, Kept } from './code-cache.ts';

interface ChunkLoaderOptions {
  readonly cache: Pick<CodeCache, 'read' | 'write'>;
  /** Loads what is not a file of the program. */
  readonly outside: (id: string) => unknown;
  /** Something was compiled that `keepNext` would keep. */
  readonly onCompiled: () => void;
}

interface Compiled {
  readonly name: string;
  readonly source: Buffer;
  readonly script: Script;
  /** Who kept what is there already. */
  readonly before: Kept | undefined;
}

interface Chunk {
  exports: unknown;
}

type Body = (exports: unknown, require: (id: string) => unknown, chunk: Chunk, file: string) => void;

/** Reading and checking what was kept of a smaller one costs as much as compiling it. */
const MIN_BYTES = 8192;

/** Loads the files of the program as `require` does, and compiles only what no earlier start has compiled. */
export class ChunkLoader {
  readonly #options: ChunkLoaderOptions;
  readonly #chunks = new Map<string, Chunk>();
  readonly #compiled: Compiled[] = [];
  #isWritable = true;

  constructor(options: ChunkLoaderOptions) {
    this.#options = options;
  }

  load(file: string): unknown {
    const known = this.#chunks.get(file);
    if (known !== undefined) return known.exports;
    const chunk: Chunk = { exports: {} };
    this.#chunks.set(file, chunk);
    const body = this.#compile(file).runInThisContext() as Body; // The text around each file is a function of this kind.
    const folder = dirname(file);
    const require = (id: string): unknown =>
      id.startsWith('.') ? this.load(join(folder, id)) : this.#options.outside(id);
    body(chunk.exports, require, chunk, file);
    return chunk.exports;
  }

  /** Keeps one of those that no process of this kind has kept, if there is any; false when there is none. */
  keepNext(by: Kept): boolean {
    const next = this.#compiled.findIndex(({ before }) => by === 'lasting' || before === undefined);
    const [found] = next < 0 ? [] : this.#compiled.splice(next, 1);
    if (found === undefined) return false;
    try {
      const code = found.script.createCachedData();
      this.#options.cache.write(found.name, found.source, { code, by });
      return true;
    } catch {
      // It is the same program without.
      this.#isWritable = false;
      this.#compiled.length = 0;
      return false;
    }
  }

  #compile(file: string): Script {
    const source = readFileSync(file);
    const name = basename(file);
    const isSmall = source.length < MIN_BYTES;
    const kept = isSmall ? undefined : this.#options.cache.read(name, source);
    const script = new Script(`(function(exports,require,module,__filename){${source.toString()}\n})`, {
      // As Node names modules in traces.
      filename: pathToFileURL(file).href,
      cachedData: kept?.code,
    });
    const before = script.cachedDataRejected === true ? undefined : kept?.by;
    if (!isSmall && before !== 'lasting' && this.#isWritable) {
      this.#compiled.push({ name, source, script, before });
      this.#options.onCompiled();
    }
    return script;
  }
}
