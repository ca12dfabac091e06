import type { Catalog } from '../../catalog/catalog.ts';
import type { ConfigSnapshot, GatewayConfig } from '../../config/config.ts';
import type { ConfigDiff } from '../../config/reload/diff-config.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { CallWatch } from '../../observe/audit/audit-trail.ts';
import type { WaitingCalls } from '../../policy/ask/waiting-calls.ts';
import type { Guard } from '../../policy/call.ts';
import { descriptions } from '../../policy/describe.ts';
import { toolLists } from '../../policy/tool-lists.ts';
import type { UpstreamPool } from '../../upstream/sharing/pool.ts';
import type { Announcements } from '../listing/announcements.ts';
import type { Discovery } from '../listing/discovery.ts';
import type { Quarantine } from '../quarantine.ts';
import type { Sight } from '../sight.ts';
import type { Subscriptions } from '../calls/subscriptions.ts';
import type { ToolSearch } from '../tool-search.ts';

/** Another configuration, with everything of it that had to be loaded. */
export interface ConfigChange {
  readonly snapshot: ConfigSnapshot;
  readonly diff: ConfigDiff;
  /** Guards of the person's own. */
  readonly own?: readonly Guard[];
  readonly watch: CallWatch | undefined;
  readonly isTracing?: boolean;
}

interface ChangedParts {
  readonly pool: UpstreamPool;
  readonly catalog: Catalog;
  readonly sight: Sight;
  readonly search: ToolSearch;
  readonly discovery: Discovery;
  readonly subscriptions: Subscriptions;
  readonly waiting: WaitingCalls;
  readonly quarantine: Quarantine;
  readonly announcements: Announcements;
}

/** Settings that decide what a caller sees of the same catalog. */
const SEEN_BY: readonly ConfigDiff['settings'][number][] = [
  ...(['policy', 'profiles', 'expose', 'results', 'management', 'readOnly'] as const),
];

/** Lets every part of a gateway have the new configuration, in one turn, so that no call meets half of it. */
export async function applyChange({ snapshot, diff }: ConfigChange, parts: ChangedParts): Promise<void> {
  const { pool, catalog, discovery, subscriptions, quarantine, waiting } = parts;
  const config = snapshot.value;
  pool.apply(config.upstreams, { reopened: diff.reopened, graceMs: config.shutdownMs });
  parts.sight.apply(config);
  parts.search.apply(config);
  catalog.apply(config.upstreams, merging(config));
  for (const name of diff.left) {
    subscriptions.forget(name);
    waiting.forget(name);
  }
  for (const name of diff.reopened) subscriptions.renew(name);
  if (diff.adjusted.length > 0 || diff.settings.some((key) => SEEN_BY.includes(key)))
    parts.announcements.byRules();
  for (const name of diff.added) discovery.changed(name, { isNew: true });
  for (const name of diff.reopened) discovery.changed(name);
  await quarantine.judgeAgain(diff.adjusted);
  await quarantine.forget(diff.gone);
}

function merging({ upstreams, names }: GatewayConfig): Parameters<Catalog['apply']>[1] {
  return {
    separator: names.separator,
    allows: toolLists(upstreams),
    describe: descriptions(upstreams),
  };
}

/** A call that waited for its turn while its server was taken out of the configuration. */
export function noSuchServer(name: UpstreamName): GatewayError {
  const message = `Server "${name}" is not in the configuration any more; nothing was called.`;
  return new GatewayError('ENTRY_NOT_FOUND', message, { details: { kind: 'server' } });
}
