import type { GatewayConfig } from '../config/config.ts';
import { AuditTrail } from '../observe/audit/audit-trail.ts';
import type { Recorder } from '../observe/audit/recorder.ts';
import type { Logger } from '../observe/log.ts';
import type { AppOptions } from './app-options.ts';

/** The record of this gateway; what writes it, and its thread, are loaded with the first operation. */
export function openAudit(
  { auditWorker: worker, stateDir }: AppOptions,
  { audit }: Pick<GatewayConfig, 'audit'>,
  log: Logger,
): AuditTrail {
  const { enabled, ...settings } = audit;
  const recorder = async (): Promise<Recorder> => {
    const [{ Recorder: Loaded }, { AuditThread }] = await Promise.all([
      import('../observe/audit/recorder.ts'),
      import('../observe/audit/audit-thread.ts'),
    ]);
    return new Loaded({
      sink: (told) => new AuditThread({ worker, settings: { ...settings, stateDir }, told }),
      results: settings.results,
      log,
    });
  };
  return new AuditTrail({ recorder, isOn: enabled, now: Date.now });
}
