import { createHash } from 'node:crypto';

import type { Catalog } from '../../catalog/catalog.ts';
import type { Caller } from '../../core/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import { removeGatewayMarks } from '../../core/gateway-meta.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { canonicalJson } from '../../core/lib/canonical-json.ts';
import type { Deadlines } from '../../core/lib/deadlines.ts';
import type { Payload } from '../../core/lib/payload.ts';
import type { CallObserver } from '../../observability/audit/audit-trail.ts';
import type { HeldCalls } from '../../policy/call-approvals/held-calls.ts';
import { composeGuards, defaultGuards, runGuarded } from '../../policy/guard-chain.ts';
import { GuardState } from '../../policy/guard-state.ts';
import type { Call, Next, Operation } from '../../policy/guard.ts';
import type { ApproveCall } from '../../policy/guards/access-guards.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';
import type { ActiveConfig } from '../active-config.ts';
import type { CallerVisibility } from '../caller-visibility.ts';
import type { GatewayDeps, GuardSettings } from '../gateway-deps.ts';
import type { HeldEntries } from '../held-entries.ts';
import type { ToolSearch } from '../tool-search.ts';
import type { CallRequest } from './call-request.ts';
import { filterRequestMeta } from './filter-request-meta.ts';
import { InFlightCalls } from './in-flight-calls.ts';
import { PreGuardAudit, createCallFacts } from './pre-guard-audit.ts';
import { ResourceLinkRoutes } from './resource-link-routes.ts';
import type { TaskRoutes } from './task-routes.ts';

interface CallPipelineDeps extends Pick<
  GatewayDeps,
  'isOperatorReachable' | 'hasSingleClient' | 'shares' | 'pause' | 'log' | 'now'
> {
  readonly pool: UpstreamPool;
  readonly catalog: Catalog;
  readonly activeConfig: ActiveConfig;
  readonly visibility: CallerVisibility;
  readonly heldCalls: HeldCalls;
  readonly heldEntries: HeldEntries;
  readonly search: ToolSearch;
  readonly tasks: TaskRoutes;
  readonly deadlines: Deadlines;
}

/** Determines how the resource links in a result are exposed to the client. Without it, the result stays unchanged. */
export interface LinkExposure {
  /** The URI that the client used, if the call reads a resource. */
  readonly requestedUri?: string;
}

/**
 * Runs every call. Before that, the gateway resolves a name or URI to an operation (resolve-operation.ts, tool-resolver.ts). The steps:
 *
 * 1. `run` creates the call. The `check` of the request may refuse the tool.
 * 2. The guards run: trace, audit, pause, deadline, permission, limits, validation, content, size (policy/guard-chain.ts).
 * 3. `#send` passes the call to its upstream, or to a tool of the gateway itself.
 * 4. `#postprocess` records the task and the resource links of the result, rewrites the links, and removes marks of the gateway that a
 *    server has set.
 *
 * None of these methods is async, because each async frame of a call would cost half a kilobyte.
 */
export class CallPipeline {
  /** Records operations that end before the guards run. */
  readonly audit: PreGuardAudit;
  readonly inFlight = new InFlightCalls();
  readonly links = new ResourceLinkRoutes();
  readonly #deps: CallPipelineDeps;
  readonly #guardState = new GuardState();
  readonly #facts: ReturnType<typeof createCallFacts>;
  #callObserver: CallObserver | undefined;
  #runGuards: Next;

  constructor(deps: CallPipelineDeps, settings: GuardSettings) {
    this.#deps = deps;
    const { catalog, visibility, activeConfig } = deps;
    this.#facts = createCallFacts(visibility, activeConfig);
    this.audit = new PreGuardAudit({
      callObserver: () => this.#callObserver,
      facts: this.#facts,
      catalog,
      visibility,
    });
    this.#runGuards = this.#buildGuards(settings);
  }

  /** Rebuilds the guards from the active configuration. Running calls keep the guards they started with. */
  rebuildGuards(settings: GuardSettings): void {
    this.#runGuards = this.#buildGuards(settings);
  }

  run(caller: Caller, operation: Operation, request: CallRequest, links?: LinkExposure): Promise<Payload> {
    const timeoutMs = this.#deps.activeConfig.callTimeoutMs(operation.upstream);
    const call = createCall(caller, this.#withoutPrivateMeta(operation, request), request, timeoutMs);
    const refusal = request.check && this.audit.runCheck(call, request);
    if (refusal !== undefined) return Promise.reject(refusal);
    call.endListeners.push(this.inFlight.begin(call.cancellation));
    return runGuarded(this.#runGuards, call, (payload) => this.#postprocess(call, payload, links));
  }

  /** Removes private `_meta` of a client that uses several servers as one. The client of a single server may send it any `_meta`. */
  #withoutPrivateMeta(operation: Operation, { requestingClient }: CallRequest): Operation {
    if (requestingClient?.isAggregated !== true) return operation;
    const allowed = this.#deps.activeConfig.upstreams.get(operation.upstream)?.passedMeta ?? [];
    const params = filterRequestMeta(operation.params, allowed);
    return params === operation.params ? operation : { ...operation, params };
  }

  #buildGuards({ callObserver, isTracing = false, customGuards }: GuardSettings): Next {
    const { activeConfig, deadlines, hasSingleClient, shares, pause, log, now } = this.#deps;
    const { config, upstreams } = activeConfig;
    this.#callObserver = callObserver;
    this.#guardState.retainUpstreams(upstreams);
    const guards = defaultGuards({
      ...config,
      deadlines,
      upstream: (name) => upstreams.get(name),
      callObserver,
      facts: this.#facts,
      isTracing,
      permission: {
        policyFor: (caller) => this.#deps.visibility.policyFor(caller),
        approve: this.#createApprove(),
      },
      pause,
      customGuards,
      state: this.#guardState,
      shares,
      hasSingleClient,
      log,
      now,
    });
    return composeGuards(guards, (call) => this.#send(call));
  }

  #send(call: Call): Promise<Payload> {
    const { upstream: name, method, params, entry, handler } = call.operation;
    if (handler !== undefined) return handler(call);
    this.#deps.heldEntries.assertNotHeld(entry);
    const upstream = this.#deps.pool.forSession(name, call.session, call.caller, call.requestingClient);
    if (upstream === undefined) throw removedServerError(name);
    return upstream.request(method, params, call);
  }

  /** Returns a promise only for a result that starts a task: the task's owner must be stored before the client sees the task. */
  #postprocess(call: Call, payload: Payload, links: LinkExposure | undefined): Payload | Promise<Payload> {
    const recorded = this.#deps.tasks.recordResult(call, payload);
    const isOurs = call.operation.handler !== undefined;
    const exposed = this.#exposeLinks(call, isOurs ? payload : removeGatewayMarks(payload), links);
    return recorded === undefined ? exposed : resolveAfter(recorded, exposed);
  }

  #exposeLinks(call: Call, payload: Payload, links: LinkExposure | undefined): Payload {
    if (links === undefined) return payload;
    const { caller, operation } = call;
    const { upstream, params, entry } = operation;
    if (entry?.kind === 'tool') this.#deps.search.recordUse(caller, entry);
    const { requestedUri } = links;
    return this.links.expose(payload, {
      caller,
      upstream,
      snapshot: this.#deps.visibility.visibleTo(caller),
      read: requestedUri === undefined ? undefined : { requestedUri, upstreamUri: params['uri'] },
    });
  }

  /** Loads the approver on first use, because most gateways have no rule with the effect `ask`. */
  #createApprove(): ApproveCall {
    const { activeConfig, heldCalls, isOperatorReachable = false } = this.#deps;
    const { policy, profiles } = activeConfig.config;
    const { by, waitMs } = policy.ask ?? { by: ['person'], waitMs: 120_000 };
    let approver: Promise<ApproveCall> | undefined;
    const load = async (): Promise<ApproveCall> => {
      const { createCallApprover } = await import('../../policy/call-approvals/call-approver.ts');
      const digest = createHash('sha256').update(canonicalJson({ policy, profiles })).digest('base64url');
      return createCallApprover({ heldCalls, by, waitMs, isOperatorReachable, policy: digest });
    };
    return async (call, decision) => (await (approver ??= load()))(call, decision);
  }
}

async function resolveAfter(work: Promise<void>, payload: Payload): Promise<Payload> {
  await work;
  return payload;
}

/** Creates a call. All members are always set, because V8 accesses objects of one shape faster. */
function createCall(
  caller: Caller,
  operation: Operation,
  request: CallRequest,
  defaultTimeoutMs: number,
): Call {
  return {
    caller,
    session: request.session,
    operation,
    group: request.group,
    client: request.client,
    cancellation: request.cancellation,
    timeoutMs: request.timeoutMs ?? defaultTimeoutMs,
    hasRequestTimeout: request.timeoutMs !== undefined,
    onProgress: request.onProgress,
    requestingClient: request.requestingClient,
    shouldValidateArguments: request.shouldValidateArguments,
    endListeners: [],
  };
}

/** Returns the error for a call that waited in the queue while its server was removed from the configuration. */
function removedServerError(name: UpstreamName): GatewayError {
  const message = `Server "${name}" is not in the configuration any more; the call was not made.`;
  return new GatewayError('ENTRY_NOT_FOUND', message, { details: { kind: 'server' } });
}
