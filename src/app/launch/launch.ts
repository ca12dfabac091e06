import { statSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resolveLocations } from '../../config/find-config.ts';
import { ChunkLoader } from './chunk-loader.ts';
import { CodeCache } from './code-cache.ts';
import { isSafeOwner } from './is-safe-owner.ts';

declare const __TRUNKLINE_BUILD__: string;

/** Delay before compiled code is stored. By then, a gateway has answered its client and finished most of its startup. */
const STORE_DELAY_MS = 3000;

/** Loads and runs the program. Uses code that an earlier start compiled, if there is any. This is the entry point of the binary. */
function launch(): void {
  const program = fileURLToPath(new URL('program.js', import.meta.url));
  const requireExternal = createRequire(import.meta.url);
  const folder = cacheFolder(process.env, process.platform);
  const user = process.getuid?.();
  if (folder === undefined) return run(requireExternal(program));
  // Newer versions of Node have their own compile cache, which needs only a folder.
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown };
  if (enableCompileCache !== undefined) {
    if (isSafe(dirname(folder), user)) enableCompileCache(folder);
    return run(requireExternal(program));
  }
  const { version, arch, pid } = process;
  const stamp = `${__TRUNKLINE_BUILD__}-${version}-${arch}`;
  let timer: NodeJS.Timeout | undefined;
  const loader = new ChunkLoader({
    cache: new CodeCache({ folder, stamp, pid, user }),
    requireExternal,
    onCompiled: () => void (timer ??= setTimeout(storeCompiled, STORE_DELAY_MS).unref()),
  });
  // Stores one file per turn of the event loop, so that no call waits for all of them.
  function storeCompiled(): void {
    timer = undefined;
    if (loader.storeNext('long')) setImmediate(storeCompiled).unref();
  }
  process.once('exit', () => {
    while (loader.storeNext('short'));
  });
  run(loader.load(program));
}

function run(program: unknown): void {
  const { main } = program as { main: (importModule: (url: string) => Promise<unknown>) => void }; // The export of main.ts.
  main((url) => import(url));
}

/**
 * Returns the folder for compiled code: below NODE_COMPILE_CACHE if it is set, or else below the state folder, which is not created for
 * this purpose. Returns undefined if NODE_DISABLE_COMPILE_CACHE=1 is set. Both variables have the same meaning in newer versions of Node.
 */
function cacheFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | undefined {
  if (env['NODE_DISABLE_COMPILE_CACHE'] === '1') return undefined;
  const chosen = env['NODE_COMPILE_CACHE'];
  if (chosen !== undefined && chosen !== '') return join(chosen, 'trunkline');
  try {
    return join(resolveLocations({ env, platform, home: homedir() }).stateDir, 'code');
  } catch {
    return undefined; // The program reports the problem later.
  }
}

/** Whether Node may use this folder for its cache. Node itself does not check who owns the files. */
function isSafe(folder: string, user: number | undefined): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found !== undefined && isSafeOwner(found, user);
}

launch();
