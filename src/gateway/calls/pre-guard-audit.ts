import type { Catalog } from '../../catalog/catalog.ts';
import type { Caller } from '../../core/caller.ts';
import type { Entry, ToolEntry } from '../../core/entry.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { Tier } from '../../core/tier.ts';
import type { CallObserver } from '../../observability/audit/audit-trail.ts';
import type { CallFacts, CompletedCall, ObservedCall } from '../../observability/completed-call.ts';
import type { ActiveConfig } from '../active-config.ts';
import type { CallerVisibility } from '../caller-visibility.ts';
import type { CallRequest } from './call-request.ts';
import { lookupTool } from './resolve-operation.ts';

/** The kind and method of a request, before the entry that it names has been found. */
interface LookupTarget {
  readonly kind: ObservedCall['operation']['kind'];
  readonly method: string;
  /** Set for requests to a single server. */
  readonly upstream?: UpstreamName;
}

export const LOOKUP_TARGETS = {
  tool: { kind: 'tool', method: 'tools/call' },
  prompt: { kind: 'prompt', method: 'prompts/get' },
  resource: { kind: 'resource', method: 'resources/read' },
  completion: { kind: 'completion', method: 'completion/complete' },
} as const satisfies Readonly<Record<string, LookupTarget>>;

const SUBSCRIPTION = { kind: 'subscription', method: 'resources/subscribe' } as const;

interface PreGuardAuditDeps {
  readonly callObserver: () => CallObserver | undefined;
  readonly facts: CallFacts;
  readonly catalog: Catalog;
  readonly visibility: CallerVisibility;
}

/** Records operations that end before the guards run, and subscriptions, which pass no guards. */
export class PreGuardAudit {
  readonly #deps: PreGuardAuditDeps;

  constructor(deps: PreGuardAuditDeps) {
    this.#deps = deps;
  }

  /** Runs the lookup that precedes the guards, and records the operation if the lookup fails. */
  async lookUp<T>(
    target: LookupTarget,
    caller: Caller,
    { params, group, client }: Pick<CallRequest, 'params' | 'group' | 'client'>,
    find: () => T | Promise<T>,
  ): Promise<T> {
    const startedAt = performance.now();
    try {
      return await find();
    } catch (error) {
      const hidden = this.#findHiddenTool(target, caller, params['name']);
      const operation = {
        kind: target.kind,
        method: target.method,
        params,
        upstream: hidden?.entry.upstream ?? target.upstream,
        entry: hidden?.entry,
      };
      this.#record({ caller, operation, group, client }, { error, startedAt, rule: hidden?.rule });
      throw error;
    }
  }

  /** Finds the resource and subscribes to it. Records the operation whether it succeeds or fails. */
  async subscribe(
    caller: Caller,
    uri: string,
    find: () => { readonly upstream: UpstreamName; readonly uri: string },
    add: (found: { readonly upstream: UpstreamName; readonly uri: string }) => Promise<Disposable>,
  ): Promise<Disposable> {
    const found = await this.lookUp(SUBSCRIPTION, caller, { params: { uri } }, find);
    const operation = { ...SUBSCRIPTION, upstream: found.upstream, params: { uri: found.uri } };
    const startedAt = performance.now();
    try {
      const subscription = await add(found);
      this.#record({ caller, operation }, { payload: Payload.of({}), startedAt, isRefused: false });
      return subscription;
    } catch (error) {
      this.#record({ caller, operation }, { error, startedAt, isRefused: false });
      throw error;
    }
  }

  /** Runs the check of a request on its tool. Returns the error if the check throws. */
  runCheck(call: ObservedCall, { check }: CallRequest): Error | undefined {
    const { entry } = call.operation;
    if (check === undefined || entry?.kind !== 'tool') return undefined;
    try {
      check(entry);
      return undefined;
    } catch (error) {
      this.#record(call, { error, startedAt: performance.now() });
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #record(
    call: ObservedCall,
    {
      startedAt,
      payload,
      error,
      rule,
      isRefused = true,
    }: Partial<Pick<CompletedCall, 'payload' | 'error' | 'rule' | 'isRefused'>> & {
      readonly startedAt: number;
    },
  ): void {
    this.#deps.callObserver()?.onCallEnd({
      call,
      at: performance.timeOrigin + startedAt,
      ms: performance.now() - startedAt,
      payload,
      error,
      isRefused,
      rule,
      facts: this.#deps.facts,
    });
  }

  /** Finds the tool that a rule hides from the caller. The caller does not learn that the tool exists, but the audit record names it. */
  #findHiddenTool(
    { kind, upstream }: LookupTarget,
    caller: Caller,
    name: unknown,
  ): { readonly entry: ToolEntry; readonly rule: string } | undefined {
    const { catalog, visibility } = this.#deps;
    if (kind !== 'tool' || typeof name !== 'string') return undefined;
    const snapshot = upstream === undefined ? catalog.current : catalog.singleServer(upstream);
    const entry = snapshot && lookupTool(snapshot, name);
    const decision = entry && visibility.policyFor(caller).decide(entry);
    return entry !== undefined && decision?.verdict === 'hide' ? { entry, rule: decision.rule } : undefined;
  }
}

/** Returns functions that compute facts about a call when its record is written. The tier of each entry is computed once. */
export function createCallFacts(visibility: CallerVisibility, activeConfig: ActiveConfig): CallFacts {
  const tiers = new WeakMap<Entry, Tier>();
  return {
    tierOf: (entry) => {
      if (entry.kind !== 'tool') return undefined;
      let tier = tiers.get(entry);
      if (tier === undefined) tiers.set(entry, (tier = activeConfig.tierOf(entry)));
      return tier;
    },
    ruleOf: (caller, entry) => visibility.policyFor(caller).decide(entry).rule,
  };
}
