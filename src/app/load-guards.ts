import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GatewayError } from '../core/errors.ts';
import { GUARD_URL_PARAMETER } from '../core/guard-url-parameter.ts';
import type { OwnGuard } from '../core/own-guard.ts';
import type { Guard } from '../policy/guard.ts';

/** Maximum time of a custom guard per call, excluding the call itself. */
const GUARD_MS = 5_000;

interface Loading {
  readonly configFile: string;
  readonly importModule: (url: string) => Promise<unknown>;
  /** A new number loads the current version of the guard modules, but not of the modules that they import. */
  readonly reloadCount?: number;
}

/** Loads the custom guards in the order of the configuration. Rejects if one cannot be loaded, which prevents the start or the reload. */
export async function loadGuards(modules: readonly string[], loading: Loading): Promise<readonly Guard[]> {
  if (modules.length === 0) return [];
  const { createCustomGuard } = await import('../policy/guards/custom-guard.ts');
  return Promise.all(
    modules.map(async (module) => {
      const guard = await exportOf(module, loading);
      return createCustomGuard(module, guard, { timeoutMs: GUARD_MS });
    }),
  );
}

async function exportOf(
  module: string,
  { configFile, importModule, reloadCount = 0 }: Loading,
): Promise<OwnGuard> {
  const file = resolve(dirname(configFile), module);
  let loaded: { readonly default?: unknown };
  try {
    // The parameter in the URL identifies the guard in the stack traces of its errors.
    const { href } = pathToFileURL(file);
    loaded = (await importModule(`${href}?${GUARD_URL_PARAMETER}=${reloadCount}`)) as typeof loaded; // Any module is an object.
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new GatewayError('CONFIG_INVALID', `The guard ${file} cannot be loaded: ${why}`, { cause });
  }
  if (typeof loaded.default === 'function') return loaded.default as OwnGuard; // Its result is checked at each call.
  throw new GatewayError('CONFIG_INVALID', `The guard ${file} has no function as its default export.`);
}
