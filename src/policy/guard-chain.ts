import type { GatewayConfig, UpstreamConfig } from '../config/config.ts';
import type { UpstreamName } from '../core/ids.ts';
import { boundRepetitions } from '../core/lib/bounded-pattern-search.ts';
import type { Deadlines } from '../core/lib/deadlines.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { CallObserver } from '../observability/audit/audit-trail.ts';
import type { CallFacts } from '../observability/completed-call.ts';
import type { Logger } from '../observability/log.ts';
import { createSecretSearch } from '../observability/secret-formats.ts';
import { BUILT_IN_ARGUMENT_RULES } from './guards/builtin-argument-rules.ts';
import type { Call, Guard, Next } from './guard.ts';
import type { GuardState } from './guard-state.ts';
import { argumentRulesGuard } from './guards/argument-rules-guard.ts';
import { deadlineGuard } from './guards/deadline-guard.ts';
import { callerConcurrencyGuard, upstreamConcurrencyGuard } from './guards/concurrency-guards.ts';
import { pauseGuard, permissionGuard } from './guards/access-guards.ts';
import { rateLimitGuard } from './guards/rate-limit-guard.ts';
import { redactionGuard } from './guards/redaction-guard.ts';
import { auditGuard, traceGuard } from './guards/recording-guards.ts';
import { argumentValidationGuard, sizeLimitGuard } from './guards/validation-guards.ts';
import { fleetLimitGuard } from './fleet-limits/fleet-limit-guard.ts';
import type { FleetShares } from './fleet-limits/fleet-shares.ts';

type GuardConfig = Pick<GatewayConfig, 'upstreams' | 'callerLimits' | 'redact' | 'argumentRules'>;

interface GuardChainDeps extends GuardConfig {
  readonly deadlines: Deadlines;
  readonly maxCallMs: number;
  readonly upstream: (name: UpstreamName) => UpstreamConfig | undefined;
  /** Records finished calls; absent if the audit log is off. */
  readonly callObserver?: CallObserver | undefined;
  readonly facts: CallFacts;
  /** Whether calls get spans. */
  readonly isTracing?: boolean | undefined;
  readonly permission: Parameters<typeof permissionGuard>[0];
  /** The pause state of the gateway; absent if serving cannot be paused. */
  readonly pause?: Parameters<typeof pauseGuard>[0] | undefined;
  /** Guards from the `guards` setting, outermost first. */
  readonly customGuards?: readonly Guard[] | undefined;
  /** The counters of the previous chain, which continue after a configuration change. */
  readonly state?: GuardState;
  /** Limits that all gateways on one database count together; absent for a single gateway. */
  readonly shares?: FleetShares | undefined;
  /** Whether one client has its server to itself, as with `trunkline wrap`. Content is not inspected in this case. */
  readonly hasSingleClient?: boolean | undefined;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Returns the guards around every call, outermost first. Only the order of this array determines the order in which they run. Guards that
 * the configuration does not need are left out.
 */
export function defaultGuards(deps: GuardChainDeps): readonly Guard[] {
  const { deadlines, maxCallMs, callObserver, facts, permission, upstreams } = deps;
  const inspectsContent = deps.hasSingleClient !== true;
  const hasSizeLimits = upstreams.some(({ limits }) => limits.argumentBytes > 0 || limits.resultBytes > 0);
  return [
    ...(deps.isTracing === true ? [traceGuard()] : []),
    ...(callObserver === undefined ? [] : [auditGuard(callObserver, facts)]),
    ...(deps.pause === undefined ? [] : [pauseGuard(deps.pause)]),
    deadlineGuard({ deadlines, maxMs: maxCallMs, now: deadlines.now }),
    permissionGuard(permission),
    ...limitGuards(deps),
    argumentValidationGuard(),
    ...(inspectsContent ? contentGuards(deps) : []),
    ...(hasSizeLimits ? [sizeLimitGuard((name) => deps.upstream(name)?.limits)] : []),
  ];
}

/** Composes guards around `last`. The first guard is the outermost. An exception of a guard becomes a rejection. */
export function composeGuards(guards: readonly Guard[], last: Next): Next {
  return guards.reduceRight<Next>(
    (next, guard) => (call) => {
      try {
        return guard(call, next);
      } catch (error) {
        return Promise.reject(error instanceof Error ? error : new Error(String(error)));
      }
    },
    last,
  );
}

/**
 * Runs a call through the guards, then notifies its end listeners, the last one first, and applies
 * `transform` to the result. All listeners share one promise, because each further promise would cost a
 * quarter of a kilobyte of garbage.
 */
export function runGuarded(
  run: Next,
  call: Call,
  transform?: (payload: Payload) => Payload | Promise<Payload>,
): Promise<Payload> {
  return run(call).then(
    (payload) => {
      notifyEndListeners(call, payload, undefined);
      return transform === undefined ? payload : transform(payload);
    },
    (error: unknown) => {
      notifyEndListeners(call, undefined, error);
      throw error;
    },
  );
}

/** Notifies every listener, even if one of them throws. */
function notifyEndListeners(call: Call, payload: Payload | undefined, error: unknown): void {
  const listener = call.endListeners.pop();
  if (listener === undefined) return;
  try {
    listener.onEnd(payload, error);
  } finally {
    notifyEndListeners(call, payload, error);
  }
}

const NO_LIMITS = { rate: 0, concurrency: 0, waiting: 0 };

/** Returns the guards for rates and concurrency, per caller and per upstream. `fleetLimitGuard` counts fleet-wide limits instead. */
function limitGuards(deps: GuardChainDeps): readonly Guard[] {
  const { upstreams, shares, now } = deps;
  const upstreamLimits = (name: UpstreamName): UpstreamConfig['limits'] | undefined => {
    const limits = deps.upstream(name)?.limits;
    return shares !== undefined && limits?.isFleetWide === true ? undefined : limits;
  };
  const isCallerLimitFleetWide = shares !== undefined && deps.callerLimits.isFleetWide;
  const callerLimits = isCallerLimitFleetWide ? NO_LIMITS : deps.callerLimits;
  const hasRates = callerLimits.rate > 0 || upstreams.some(({ limits }) => limits.rate > 0);
  return [
    ...(hasRates
      ? [rateLimitGuard({ ofCaller: callerLimits, ofUpstream: upstreamLimits, now }, deps.state)]
      : []),
    ...(callerLimits.concurrency > 0 ? [callerConcurrencyGuard({ ...callerLimits, now })] : []),
    upstreamConcurrencyGuard(upstreamLimits, now, deps.state?.upstreamSlots),
    ...fleetLimitGuards(deps),
  ];
}

function fleetLimitGuards({
  shares,
  callerLimits,
  upstreams,
  upstream,
  now,
}: GuardChainDeps): readonly Guard[] {
  if (shares === undefined) return [];
  if (!callerLimits.isFleetWide && !upstreams.some(({ limits }) => limits.isFleetWide)) return [];
  return [
    fleetLimitGuard({
      shares,
      ofCaller: callerLimits.isFleetWide ? callerLimits : undefined,
      ofUpstream: (name) => {
        const limits = upstream(name)?.limits;
        return limits?.isFleetWide === true ? limits : undefined;
      },
      now,
    }),
  ];
}

/** Returns the guards that read arguments and results: argument rules, custom guards and redaction of secrets. */
function contentGuards(deps: GuardChainDeps): readonly Guard[] {
  const { upstream, upstreams, redact, log } = deps;
  // An empty list means the built-in rules; undefined means that argument rules are off.
  const configured = deps.argumentRules ?? [];
  const rules =
    configured.length === 0 && deps.argumentRules !== undefined ? BUILT_IN_ARGUMENT_RULES : configured;
  const hasRules = rules.length > 0 && upstreams.some(({ hasArgumentRules }) => hasArgumentRules);
  const hasRedaction = upstreams.some(
    (server) => server.redact.arguments !== 'off' || server.redact.results !== 'off',
  );
  const patterns = Object.entries(redact.patterns).map(([id, source]) => ({
    id,
    pattern: new RegExp(boundRepetitions(source), 'giu'),
  }));
  const off = { arguments: 'off', results: 'off' } as const;
  const createRedactionGuard = (): Guard =>
    redactionGuard({
      search: createSecretSearch({ entropy: redact.entropy, patterns }),
      actionsOf: (name) => upstream(name)?.redact ?? off,
      log,
    });
  return [
    ...(hasRules
      ? [argumentRulesGuard((name) => (upstream(name)?.hasArgumentRules === true ? rules : []))]
      : []),
    ...(deps.customGuards ?? []),
    ...(hasRedaction ? [createRedactionGuard()] : []),
  ];
}
