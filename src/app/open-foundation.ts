import type { KeySource } from '../auth/upstream/token-encryption/secret-key.ts';
import { localDate } from '../core/lib/local-date.ts';
import { IdleCollection } from '../core/lib/idle-collection.ts';
import type { Scope } from '../core/lib/scope.ts';
import { TokenMeter } from '../exposure/token-meter.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { AuditTrail } from '../observability/audit/audit-trail.ts';
import type { Logger } from '../observability/log.ts';
import type { AppOptions } from './app-options.ts';
import { openInstanceKey } from './open-instance-key.ts';
import { openSharedServers, applySharedServers } from './open-management.ts';
import type { SharedServerStore } from '../setup/manage/shared-server-store.ts';
import { openAudit } from './open-audit.ts';
import { openStore, resolveStoreLocation } from './open-store.ts';
import type { Store } from './open-store.ts';
import { openTelemetry } from './open-telemetry.ts';
import type { Telemetry } from './open-telemetry.ts';
import type { StartConfig } from './read-start-config.ts';
import type { Runtime } from './runtime.ts';
import { openConfiguredFleet } from './fleet/open-configured-fleet.ts';

/** The parts that the gateway and all services use. */
export interface Foundation {
  readonly start: StartConfig;
  readonly scope: Scope;
  readonly log: Logger;
  readonly audit: AuditTrail;
  readonly store: Store;
  /** Encrypts tokens and signs sessions of this gateway, or of its fleet. */
  readonly key: KeySource;
  readonly telemetry: Telemetry;
  /** Counts the tokens that tool lists cost clients. */
  readonly meter: TokenMeter;
  /** Servers that were added at any gateway of a fleet; undefined without a fleet. */
  readonly sharedServers: SharedServerStore | undefined;
  readonly fleet: Fleet | undefined;
}

/** Opens the audit log, database, telemetry and fleet. The audit log opens first and closes last, so that it records the shutdown, too. */
export async function openFoundation(
  options: AppOptions,
  runtime: Runtime,
  { start, scope, log }: { readonly start: StartConfig; readonly scope: Scope; readonly log: Logger },
): Promise<Foundation> {
  const { snapshot, text, isWarmDamaged } = start;
  if (isWarmDamaged)
    log.warn('The catalog of the last run is damaged; starting without it.', { stateDir: options.stateDir });
  const place = await resolveStoreLocation(options, snapshot);
  const audit = scope.use(openAudit({ ...options, place }, snapshot.value, log));
  const store = openStore(place, { scope, log });
  const meter = scope.use(openTokenMeter(audit));
  const idleCollection = new IdleCollection();
  scope.defer(() => idleCollection[Symbol.dispose]());
  const telemetry = await openTelemetry(options, snapshot, { audit, log, runtime });
  runtime.telemetry = telemetry;
  scope.defer(() => runtime.telemetry?.close());
  const key = openInstanceKey(options, snapshot);
  const sharedServers = await openSharedServers(options, { store, key, log });
  if (sharedServers !== undefined)
    runtime.snapshot = await applySharedServers(options, { servers: sharedServers, text, snapshot, log });
  const fleet = await openConfiguredFleet(options, snapshot.value, { store, key, scope, log });
  return { start, scope, log, audit, store, key, telemetry, meter, sharedServers, fleet };
}

function openTokenMeter(audit: AuditTrail): TokenMeter {
  return new TokenMeter({
    save: async (counts) => void (await audit.query('addTokens', { day: localDate(new Date()), ...counts })),
  });
}
