import type { UpstreamConfig } from '../config/config.ts';
import type { Deadlines } from '../lib/deadlines.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { CallWatch } from '../observe/audit/audit-trail.ts';
import type { CallFacts } from '../observe/ended-call.ts';
import type { Logger } from '../observe/log.ts';
import type { Guard } from './call.ts';
import type { GuardMemory } from './guard-memory.ts';
import { guarding } from './guarding.ts';
import type { GuardingConfig } from './guarding.ts';
import { audit } from './guards/audit.ts';
import { deadline } from './guards/deadline.ts';
import { pause } from './guards/pause.ts';
import { permit } from './guards/permit.ts';
import { trace } from './guards/trace.ts';
import type { Shares } from './sharing/shares.ts';

interface ChainDeps extends GuardingConfig {
  readonly deadlines: Deadlines;
  readonly maxCallMs: number;
  readonly upstream: (name: UpstreamName) => UpstreamConfig | undefined;
  /** Told of every call that is over; absent where nobody wants to know. */
  readonly watch?: CallWatch | undefined;
  readonly facts: CallFacts;
  /** Whether calls get spans. */
  readonly isTracing?: boolean;
  readonly permission: Parameters<typeof permit>[0];
  /** Whether a person has paused serving. */
  readonly pause?: Parameters<typeof pause>[0];
  /** Guards of the person's own. */
  readonly own?: readonly Guard[];
  readonly memory?: GuardMemory;
  /** What gateways on one database count together. */
  readonly shares?: Shares | undefined;
  readonly log: Logger;
  readonly now: () => number;
}

/** The guards around every call, outermost first. The order is this array; there are no priorities. */
export function defaultChain(deps: ChainDeps): readonly Guard[] {
  const { deadlines, maxCallMs, watch, facts, permission } = deps;
  return [
    ...(deps.isTracing === true ? [trace()] : []),
    ...(watch === undefined ? [] : [audit(watch, facts)]),
    ...(deps.pause === undefined ? [] : [pause(deps.pause)]),
    deadline({ deadlines, maxMs: maxCallMs, now: deadlines.now }),
    permit(permission),
    ...guarding(deps),
  ];
}
