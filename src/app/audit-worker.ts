import { parentPort, workerData } from 'node:worker_threads';
import { estimateTokens } from '../exposure/estimate-tokens.ts';
import { runAuditMessageLoop } from '../observability/audit/audit-message-loop.ts';
import type { AuditSettings } from '../observability/audit/audit-messages.ts';

/** Runs the audit thread. `AuditThread` starts this file as a worker. */
if (parentPort !== null)
  runAuditMessageLoop(parentPort, {
    settings: workerData as AuditSettings, // AuditThread passes its settings.
    estimate: estimateTokens,
    now: Date.now,
  });
