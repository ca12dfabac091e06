import { randomBytes } from 'node:crypto';

import type { KeySource } from '../../auth/upstream/sealing/secret-key.ts';
import type { KeepingOptions } from '../../downstream/sessions/open-sessions.ts';
import type { Others } from '../../downstream/sessions/between/others.ts';
import type { Logger } from '../../observe/log.ts';
import type { Store } from '../open-store.ts';
import { streamPlaces } from './stream-places.ts';
import { WrittenSessions } from './written-sessions.ts';

/** How sessions over HTTP outlive this process: a secret that the next one has as well, what is written down, and who else serves them. */
export function openSessionKeeping(deps: {
  readonly key: KeySource;
  readonly store: Store;
  readonly others: Others | undefined;
  readonly log: Logger;
}): KeepingOptions {
  const { key, store, others, log } = deps;
  const { database, isStored, follow, place } = store;
  let found: Promise<Buffer> | undefined;
  const secret = (): Promise<Buffer> =>
    (found ??= key.get().catch((error: unknown) => {
      log.warn('Sessions of older clients end with this process, since there is no key for their ids.', {
        reason: String(error),
      });
      return randomBytes(32);
    }));
  return {
    sessionSecret: secret,
    sessionMemory: new WrittenSessions({
      ...{ database, isStored, secret, now: Date.now },
      ...(place.server && { onChange: (listener: () => void) => follow('sessions', listener) }),
    }),
    between: others && {
      others,
      places: streamPlaces({ self: others.self, database, now: Date.now }),
    },
  };
}
