import type { GatewayConfig } from '../config/config.ts';
import { AuditTrail } from '../observability/audit/audit-trail.ts';
import type { AuditQueue } from '../observability/audit/audit-queue.ts';
import type { Logger } from '../observability/log.ts';
import type { StoreLocation } from '../core/storage/store-location.ts';
import type { AppOptions } from './app-options.ts';

export type AuditLocation = Pick<AppOptions, 'auditWorker'> & { readonly place: StoreLocation };

/** Opens the audit log. Its queue and thread are loaded on first use. */
export function openAudit(
  options: AuditLocation,
  config: Pick<GatewayConfig, 'audit'>,
  log: Logger,
): AuditTrail {
  return new AuditTrail({ ...toAuditSettings(options, config, log), now: Date.now });
}

/** Returns the settings of the audit log from the configuration. */
export function toAuditSettings(
  { auditWorker: worker, place }: AuditLocation,
  { audit }: Pick<GatewayConfig, 'audit'>,
  log: Logger,
): Parameters<AuditTrail['reconfigure']>[0] {
  const { enabled, ...settings } = audit;
  const loadQueue = async (): Promise<AuditQueue> => {
    const [{ AuditQueue: Loaded }, { AuditThread }] = await Promise.all([
      import('../observability/audit/audit-queue.ts'),
      import('../observability/audit/audit-thread.ts'),
    ]);
    return new Loaded({
      createBackend: (listener) => new AuditThread({ worker, settings: { ...settings, place }, listener }),
      storesResults: settings.results,
      log,
    });
  };
  return { loadQueue, isEnabled: enabled };
}
