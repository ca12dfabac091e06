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
import { fleetLimits } from './sharing/fleet-limits.ts';
import type { Shares } from './sharing/shares.ts';

export type GuardingConfig = Pick<GatewayConfig, 'upstreams' | 'callerLimits' | 'redact' | 'argumentRules'>;

interface GuardingDeps extends GuardingConfig {
  readonly upstream: (name: UpstreamName) => UpstreamConfig | undefined;
  readonly own?: readonly Guard[];
  readonly memory?: GuardMemory;
  /** What gateways on one database count together; absent where one is alone. */
  readonly shares?: Shares | undefined;
  /** Whether a single client has its server as if there were no gateway: nothing is looked for. */
  readonly isForOne?: boolean;
  readonly log: Logger;
  readonly now: () => number;
}

/** The guards that look at what is called, outermost first. One that the configuration gives nothing to do is not there. */
export function guarding(deps: GuardingDeps): readonly Guard[] {
  const { upstreams, shares, now } = deps;
  const upstream = (name: UpstreamName): UpstreamConfig['limits'] | undefined => {
    const limits = deps.upstream(name)?.limits;
    return shares !== undefined && limits?.isOfFleet === true ? undefined : limits;
  };
  const isCallerOfFleet = shares !== undefined && deps.callerLimits.isOfFleet;
  const callerLimits = isCallerOfFleet ? NO_LIMITS : deps.callerLimits;
  const hasRates = callerLimits.rate > 0 || upstreams.some(({ limits }) => limits.rate > 0);
  const hasCaps = upstreams.some(({ limits }) => limits.argumentBytes > 0 || limits.resultBytes > 0);
  return [
    ...(hasRates ? [rate({ ofCaller: callerLimits, ofUpstream: upstream, now }, deps.memory)] : []),
    ...(callerLimits.concurrency > 0 ? [callerLimit({ ...callerLimits, now })] : []),
    limit(upstream, now, deps.memory?.upstreamSlots),
    ...ofFleet(deps),
    validate(),
    ...(deps.isForOne === true ? [] : looking(deps)),
    ...(hasCaps ? [cap((name) => deps.upstream(name)?.limits)] : []),
  ];
}

const NO_LIMITS = { rate: 0, concurrency: 0, waiting: 0 };

function ofFleet({ shares, callerLimits, upstreams, upstream, now }: GuardingDeps): readonly Guard[] {
  if (shares === undefined) return [];
  if (!callerLimits.isOfFleet && !upstreams.some(({ limits }) => limits.isOfFleet)) return [];
  return [
    fleetLimits({
      shares,
      ofCaller: callerLimits.isOfFleet ? callerLimits : undefined,
      ofUpstream: (name) => {
        const limits = upstream(name)?.limits;
        return limits?.isOfFleet === true ? limits : undefined;
      },
      now,
    }),
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
