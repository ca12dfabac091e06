import { statSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { locations } from '../config/paths.ts';
import { ChunkLoader } from './chunk-loader.ts';
import { CodeCache } from './code-cache.ts';
import { isOfUser } from './is-of-user.ts';

declare const __TRUNKLINE_BUILD__: string;

/** By then a gateway has answered its client, and has done most of what it does at a start. */
const KEEP_AFTER_MS = 3000;

/** The entry of the binary: loads the program, with what was compiled at an earlier start where there is any. */
function launch(): void {
  const program = fileURLToPath(new URL('program.js', import.meta.url));
  const outside = createRequire(import.meta.url);
  const folder = cacheFolder(process.env, process.platform);
  const user = process.getuid?.();
  if (folder === undefined) return run(outside(program));
  // Newer versions of Node do the same by themselves, once they are told where.
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown };
  if (enableCompileCache !== undefined) {
    if (isSafe(dirname(folder), user)) enableCompileCache(folder);
    return run(outside(program));
  }
  const { version, arch, pid } = process;
  const stamp = `${__TRUNKLINE_BUILD__}-${version}-${arch}`;
  let timer: NodeJS.Timeout | undefined;
  const loader = new ChunkLoader({
    cache: new CodeCache({ folder, stamp, pid, user }),
    outside,
    onCompiled: () => void (timer ??= setTimeout(keep, KEEP_AFTER_MS).unref()),
  });
  // One in a turn, so that no call waits for all of them.
  function keep(): void {
    timer = undefined;
    if (loader.keepNext('lasting')) setImmediate(keep).unref();
  }
  process.once('exit', () => {
    while (loader.keepNext('brief'));
  });
  run(loader.load(program));
}

function run(program: unknown): void {
  const { main } = program as { main: (importModule: (url: string) => Promise<unknown>) => void }; // Of main.ts.
  main((url) => import(url));
}

/** In the state folder, which is not made for it; undefined where a person wants none. */
function cacheFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | undefined {
  // The switch that Node has for the same.
  if (env['NODE_DISABLE_COMPILE_CACHE'] === '1') return undefined;
  try {
    return join(locations({ env, platform, home: homedir() }).stateDir, 'code');
  } catch {
    return undefined; // Whatever is wrong with it, the program says so.
  }
}

/** Whether Node, which looks at no owners, may keep and find code in this folder. */
function isSafe(folder: string, user: number | undefined): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found !== undefined && isOfUser(found, user);
}

launch();
