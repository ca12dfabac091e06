import type { GatewayConfig, UpstreamConfig } from '../config/config.ts';
import { withBounds } from '../lib/bounded-search.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { Logger } from '../observe/log.ts';
import { secretSearch } from '../observe/secret-formats.ts';
import { BUILT_IN_ARGUMENT_RULES } from './builtin-argument-rules.ts';
import type { Guard } from './call.ts';
import { argumentRules } from './guards/argument-rules.ts';
import { callerLimit } from './guards/caller-limit.ts';
import type { GuardMemory } from './guard-memory.ts';
import { cap } from './guards/cap.ts';
import { limit } from './guards/limit.ts';
import { rate } from './guards/rate.ts';
import { redact } from './guards/redact.ts';
import { validate } from './guards/validate.ts';

export type GuardingConfig = Pick<GatewayConfig, 'upstreams' | 'callerLimits' | 'redact' | 'argumentRules'>;

interface GuardingDeps extends GuardingConfig {
  readonly upstream: (name: UpstreamName) => UpstreamConfig | undefined;
  readonly own?: readonly Guard[];
  readonly memory?: GuardMemory;
  /** Whether a single client has its server as if there were no gateway: nothing is looked for. */
  readonly isForOne?: boolean;
  readonly log: Logger;
  readonly now: () => number;
}

/** The guards that look at what is called, outermost first. One that the configuration gives nothing to do is not there. */
export function guarding(deps: GuardingDeps): readonly Guard[] {
  const { upstream, upstreams, callerLimits, now } = deps;
  const hasRates = callerLimits.rate > 0 || upstreams.some(({ limits }) => limits.rate > 0);
  const hasCaps = upstreams.some(({ limits }) => limits.argumentBytes > 0 || limits.resultBytes > 0);
  return [
    ...(hasRates
      ? [rate({ ofCaller: callerLimits, ofUpstream: (name) => upstream(name)?.limits, now }, deps.memory)]
      : []),
    ...(callerLimits.concurrency > 0 ? [callerLimit({ ...callerLimits, now })] : []),
    limit((name) => upstream(name)?.limits, now, deps.memory?.upstreamSlots),
    validate(),
    ...(deps.isForOne === true ? [] : looking(deps)),
    ...(hasCaps ? [cap((name) => upstream(name)?.limits)] : []),
  ];
}

function looking(deps: GuardingDeps): readonly Guard[] {
  const { upstream, upstreams, redact: config, log } = deps;
  const own = deps.argumentRules ?? [];
  const rules = own.length === 0 && deps.argumentRules !== undefined ? BUILT_IN_ARGUMENT_RULES : own;
  const hasRules = rules.length > 0 && upstreams.some(({ hasArgumentRules }) => hasArgumentRules);
  const hasSecrets = upstreams.some((one) => one.redact.arguments !== 'off' || one.redact.results !== 'off');
  const patterns = Object.entries(config.patterns).map(([id, source]) => ({
    id,
    pattern: new RegExp(withBounds(source), 'giu'),
  }));
  const off = { arguments: 'off', results: 'off' } as const;
  return [
    ...(hasRules ? [argumentRules((name) => (upstream(name)?.hasArgumentRules === true ? rules : []))] : []),
    ...(deps.own ?? []),
    ...(hasSecrets
      ? [
          redact({
            search: secretSearch({ entropy: config.entropy, patterns }),
            actionsOf: (name) => upstream(name)?.redact ?? off,
            log,
          }),
        ]
      : []),
  ];
}
