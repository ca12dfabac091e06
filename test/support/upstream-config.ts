import type { UpstreamConfig } from '../../src/config/config.ts';
import type { Fingerprint, UpstreamName } from '../../src/core/ids.ts';

/** Returns the config of one upstream, with defaults for everything that a test does not set. */
export function upstreamConfig(config: Partial<UpstreamConfig> = {}): UpstreamConfig {
  return {
    name: 'server' as UpstreamName,
    fingerprint: 'fingerprint' as Fingerprint,
    startFingerprint: config.fingerprint ?? ('fingerprint' as Fingerprint),
    enabled: true,
    tags: [],
    share: 'all',
    trust: 'first-sight',
    era: 'auto',
    transport: { kind: 'stdio', command: 'server', args: [], env: {} },
    idle: 'adaptive',
    timeouts: { connectMs: 30_000, callMs: 120_000 },
    limits: {
      concurrency: 8,
      waiting: 64,
      rate: 0,
      argumentBytes: 0,
      resultBytes: 0,
      sessions: 10,
      isFleetWide: false,
    },
    redact: { arguments: 'off', results: 'off' },
    hasArgumentRules: true,
    passedMeta: [],
    tools: { allow: [], deny: [], tiers: {} },
    ...config,
  };
}
