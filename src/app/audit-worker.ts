import { parentPort, workerData } from 'node:worker_threads';
import { estimateTokens } from '../exposure/tokens.ts';
import type { AuditSettings } from '../observe/audit/audit-batch.ts';
import { serveAudit } from '../observe/audit/serve-audit.ts';

/** The entry of the thread that keeps the record. */
if (parentPort !== null)
  serveAudit(parentPort, {
    settings: workerData as AuditSettings, // Given by AuditThread.
    estimate: estimateTokens,
    now: Date.now,
  });
