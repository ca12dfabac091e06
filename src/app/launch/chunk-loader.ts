import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import type { CodeCache, ProcessLifetime } from './code-cache.ts';

interface ChunkLoaderOptions {
  readonly cache: Pick<CodeCache, 'read' | 'write'>;
  /** Loads modules that are not files of the program. */
  readonly requireExternal: (id: string) => unknown;
  /** Called after a file was compiled; `storeNext` can now store its code. */
  readonly onCompiled: () => void;
}

interface CompiledFile {
  readonly name: string;
  readonly source: Buffer;
  readonly script: Script;
  /** The lifetime of the process that stored the cached code; undefined if there is none. */
  readonly cachedBy: ProcessLifetime | undefined;
}

interface Chunk {
  exports: unknown;
}

type Body = (exports: unknown, require: (id: string) => unknown, chunk: Chunk, file: string) => void;

/** Minimum size of a cached file. Reading and checking the cached code of a smaller file takes as long as compiling the file. */
const MIN_BYTES = 8192;

/** Loads the files of the program as `require` does, and uses the cached code of files that an earlier start compiled. */
export class ChunkLoader {
  readonly #options: ChunkLoaderOptions;
  readonly #chunks = new Map<string, Chunk>();
  readonly #compiled: CompiledFile[] = [];
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
      id.startsWith('.') ? this.load(join(folder, id)) : this.#options.requireExternal(id);
    body(chunk.exports, require, chunk, file);
    return chunk.exports;
  }

  /** Stores the code of one more file. A long-lived process also replaces the code of a short-lived one. Returns false if no file is left. */
  storeNext(by: ProcessLifetime): boolean {
    const next = this.#compiled.findIndex(({ cachedBy }) => by === 'long' || cachedBy === undefined);
    const [found] = next < 0 ? [] : this.#compiled.splice(next, 1);
    if (found === undefined) return false;
    try {
      const code = found.script.createCachedData();
      this.#options.cache.write(found.name, found.source, { code, writtenBy: by });
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
    const cached = isSmall ? undefined : this.#options.cache.read(name, source);
    const script = new Script(`(function(exports,require,module,__filename){${source.toString()}\n})`, {
      // Node uses the same form for modules in stack traces.
      filename: pathToFileURL(file).href,
      cachedData: cached?.code,
    });
    const cachedBy = script.cachedDataRejected === true ? undefined : cached?.writtenBy;
    if (!isSmall && cachedBy !== 'long' && this.#isWritable) {
      this.#compiled.push({ name, source, script, cachedBy });
      this.#options.onCompiled();
    }
    return script;
  }
}
