import { setTimeout as pause } from 'node:timers/promises';

import { canonicalJson } from '../../../lib/canonical-json.ts';
import { GatewayError } from '../../../model/errors.ts';
import type { ConfigChange } from './config-change.ts';

const ATTEMPTS = 12;
const PAUSE_MS = 40;

/** Makes a change of these servers again when somebody else was faster, as long as nobody touched the servers themselves. */
export async function inTurn<T>(
  change: ConfigChange,
  names: readonly string[],
  work: (change: ConfigChange) => Promise<T>,
): Promise<T> {
  let current = change;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(current);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'REVISION_CONFLICT' || attempt === ATTEMPTS)
        throw error;
      // Those who meet once would meet again after equal pauses.
      await pause(Math.random() * PAUSE_MS);
      const next = await current.again();
      if (entriesOf(next, names) !== entriesOf(change, names)) throw error;
      current = next;
    }
  }
}

function entriesOf({ document }: ConfigChange, names: readonly string[]): string {
  return canonicalJson(names.map((name) => document.servers.get(name) ?? null));
}
