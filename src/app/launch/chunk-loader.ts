import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import type { CodeCache, CacheKind } from './code-cache.ts';

interface ChunkLoaderOptions {
  readonly cache: Pick<CodeCache, 'read' | 'write'>;
  /** Loads modules that are not files of the program. */
  readonly outside: (id: string) => unknown;
  /** Called after a file was compiled whose code `keepNext` can store. */
  readonly onCompiled: () => void;
}

interface Compiled {
  readonly name: string;
  readonly source: Buffer;
  readonly script: Script;
  /** The kind of process that stored the cached code; undefined if there is none. */
  readonly before: CacheKind | undefined;
}

interface Chunk {
  exports: unknown;
}

type Body = (exports: unknown, require: (id: string) => unknown, chunk: Chunk, file: string) => void;

/** Minimum size of a cached file. Reading and checking the cached code of a smaller file takes as long as compiling the file. */
const MIN_BYTES = 8192;

/** Loads the files of the program as `require` does, and compiles only files that no earlier start has compiled. */
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
    // The chunk is registered before it runs, so that circular imports end.
    this.#chunks.set(file, chunk);
    const body = this.#compile(file).runInThisContext() as Body; // `#compile` wraps each file in such a function.
    const folder = dirname(file);
    const require = (id: string): unknown =>
      id.startsWith('.') ? this.load(join(folder, id)) : this.#options.outside(id);
    body(chunk.exports, require, chunk, file);
    return chunk.exports;
  }

  /** Stores the code of one file that no process of this kind has stored yet. Returns false if there is none left. */
  keepNext(by: CacheKind): boolean {
    const next = this.#compiled.findIndex(({ before }) => by === 'lasting' || before === undefined);
    const [found] = next < 0 ? [] : this.#compiled.splice(next, 1);
    if (found === undefined) return false;
    try {
      const code = found.script.createCachedData();
      this.#options.cache.write(found.name, found.source, { code, by });
      return true;
    } catch {
      // The cache is optional, so a failed write only ends caching for this process.
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
      // Node uses the same form for modules in stack traces.
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
