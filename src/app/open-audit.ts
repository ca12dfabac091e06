import type { GatewayConfig } from '../config/config.ts';
import { AuditTrail } from '../observe/audit/audit-trail.ts';
import type { Recorder } from '../observe/audit/recorder.ts';
import type { Logger } from '../observe/log.ts';
import type { StorePlace } from '../storage/store-place.ts';
import type { AppOptions } from './app-options.ts';

export type AuditPlace = Pick<AppOptions, 'auditWorker'> & { readonly place: StorePlace };

/** The record of this gateway; what writes it, and its thread, are loaded with the first operation. */
export function openAudit(
  options: AuditPlace,
  config: Pick<GatewayConfig, 'audit'>,
  log: Logger,
): AuditTrail {
  return new AuditTrail({ ...auditSettings(options, config, log), now: Date.now });
}

/** How the configuration wants it to be written. */
export function auditSettings(
  { auditWorker: worker, place }: AuditPlace,
  { audit }: Pick<GatewayConfig, 'audit'>,
  log: Logger,
): Parameters<AuditTrail['adjust']>[0] {
  const { enabled, ...settings } = audit;
  const recorder = async (): Promise<Recorder> => {
    const [{ Recorder: Loaded }, { AuditThread }] = await Promise.all([
      import('../observe/audit/recorder.ts'),
      import('../observe/audit/audit-thread.ts'),
    ]);
    return new Loaded({
      sink: (told) => new AuditThread({ worker, settings: { ...settings, place }, told }),
      results: settings.results,
      log,
    });
  };
  return { recorder, isOn: enabled };
}
