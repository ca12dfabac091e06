import { randomBytes } from 'node:crypto';

import type { KeySource } from '../auth/upstream/token-encryption/secret-key.ts';
import type { ReplicaBus } from '../core/replica-bus.ts';
import {
  DatabaseSessionStore,
  DatabaseStreamLocations,
} from '../downstream/sessions/database-session-store.ts';
import type { SessionPersistence } from '../downstream/sessions/sessions.ts';
import type { Logger } from '../observability/log.ts';
import type { Store } from './open-store.ts';

/** Opens the parts that let HTTP sessions outlive this process: the secret for their ids, their store, and the other replicas. */
export function openSessionPersistence(deps: {
  readonly key: KeySource;
  readonly store: Store;
  readonly others: ReplicaBus | undefined;
  readonly log: Logger;
}): SessionPersistence {
  const { key, store, others: replicas, log } = deps;
  const { database, isStored, follow, place } = store;
  let loading: Promise<Buffer> | undefined;
  const secret = (): Promise<Buffer> =>
    (loading ??= key.get().catch((error: unknown) => {
      log.warn('Sessions of legacy clients end with this process, since the key for their ids is missing.', {
        reason: String(error),
      });
      return randomBytes(32);
    }));
  return {
    sessionSecret: secret,
    sessionStore: new DatabaseSessionStore({
      database,
      isStored,
      secret,
      now: Date.now,
      onChange: place.server && ((listener) => follow('sessions', listener)),
    }),
    replicas: replicas && {
      replicas,
      locations: new DatabaseStreamLocations({ self: replicas.self, database, now: Date.now }),
    },
  };
}
