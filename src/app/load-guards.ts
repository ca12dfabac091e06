import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GatewayError } from '../model/errors.ts';
import { GUARD_MARK } from '../model/guard-mark.ts';
import type { OwnGuard } from '../model/own-guard.ts';
import type { Guard } from '../policy/call.ts';

/** Time that a guard may take for itself in one call. */
const GUARD_MS = 5_000;

interface Loading {
  readonly configFile: string;
  readonly importModule: (url: string) => Promise<unknown>;
  /** With another one than before they are loaded as they are now; what they import themselves is not. */
  readonly edition?: number;
}

/** The guards that the configuration names, in their order; one that cannot be loaded stops the start. */
export async function loadGuards(modules: readonly string[], loading: Loading): Promise<readonly Guard[]> {
  if (modules.length === 0) return [];
  const { ownGuard } = await import('../policy/own-guard.ts');
  return Promise.all(
    modules.map(async (module) => {
      const guard = await exportOf(module, loading);
      return ownGuard(module, guard, { timeoutMs: GUARD_MS });
    }),
  );
}

async function exportOf(
  module: string,
  { configFile, importModule, edition = 0 }: Loading,
): Promise<OwnGuard> {
  const file = resolve(dirname(configFile), module);
  let loaded: { readonly default?: unknown };
  try {
    // With a mark in its address, so that a crash can be told to be its own.
    const { href } = pathToFileURL(file);
    loaded = (await importModule(`${href}?${GUARD_MARK}=${edition}`)) as typeof loaded; // Any module is an object.
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new GatewayError('CONFIG_INVALID', `The guard ${file} cannot be loaded: ${why}`, { cause });
  }
  if (typeof loaded.default === 'function') return loaded.default as OwnGuard; // What it returns is checked at each call.
  throw new GatewayError('CONFIG_INVALID', `The guard ${file} has no function as its default export.`);
}
