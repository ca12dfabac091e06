import type { KeySource } from '../../auth/upstream/sealing/secret-key.ts';
import type { ConfigSnapshot } from '../../config/config.ts';
import type { Logger } from '../../observe/log.ts';
import type { AppOptions } from '../app-options.ts';
import { validated } from '../load-snapshot.ts';
import type { Store } from '../open-store.ts';
import type { SharedServers } from './shared-servers.ts';

/** Where gateways share a database and a file of their own is the base; undefined elsewhere. */
export async function openSharedServers(
  { file, version, text }: Pick<AppOptions, 'file' | 'version' | 'text'>,
  { store, key, log }: { readonly store: Store; readonly key: KeySource; readonly log: Logger },
): Promise<SharedServers | undefined> {
  if (store.place.server === undefined || text !== undefined) return undefined;
  const { SharedServers: Opened } = await import('./shared-servers.ts');
  return new Opened({ file, version, database: store.database, key, now: Date.now, log });
}

/** What a gateway starts with, so that its first client sees every server; what cannot be had, or used, is left out. */
export async function withSharedServers(
  options: Pick<AppOptions, 'file' | 'version' | 'servers'>,
  start: {
    readonly servers: SharedServers;
    readonly text: string;
    readonly snapshot: ConfigSnapshot;
    readonly log: Logger;
  },
): Promise<ConfigSnapshot> {
  const { servers, text, snapshot, log } = start;
  try {
    const applied = await servers.appliedTo(text);
    return applied === text ? snapshot : await validated(options, applied);
  } catch (error) {
    log.warn('Servers that were added at other gateways cannot be used; starting without them.', {
      reason: String(error),
    });
    return snapshot;
  }
}
