import type { Catalog } from '../../catalog/catalog.ts';
import { Payload } from '../../lib/payload.ts';
import type { Caller } from '../../model/caller.ts';
import type { Entry, ToolEntry } from '../../model/entry.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { CallWatch } from '../../observe/audit/audit-trail.ts';
import type { CallFacts, EndedCall, RecordedCall } from '../../observe/ended-call.ts';
import { findTool } from './route.ts';
import type { CallRequest } from './call-request.ts';
import type { Sight } from '../sight.ts';

const SUBSCRIPTION = { kind: 'subscription', method: 'resources/subscribe' } as const;

/** What a client wants before it is known whether there is such a thing. */
export interface Asked {
  readonly kind: RecordedCall['operation']['kind'];
  readonly method: string;
  /** Where one server is served alone. */
  readonly upstream?: UpstreamName;
}

/** What clients ask for by a name or a URI. */
export const ASKED = {
  tool: { kind: 'tool', method: 'tools/call' },
  prompt: { kind: 'prompt', method: 'prompts/get' },
  resource: { kind: 'resource', method: 'resources/read' },
  completion: { kind: 'completion', method: 'completion/complete' },
} as const satisfies Readonly<Record<string, Asked>>;

interface RefusalsDeps {
  readonly watch: () => CallWatch | undefined;
  readonly facts: CallFacts;
  readonly catalog: Catalog;
  readonly sight: Sight;
}

/** Tells of operations that end before any guard has seen them, so that each leaves its record. */
export class Refusals {
  readonly #deps: RefusalsDeps;

  constructor(deps: RefusalsDeps) {
    this.#deps = deps;
  }

  /** Does what must succeed before the guards are asked. */
  async before<T>(
    asked: Asked,
    caller: Caller,
    request: Pick<CallRequest, 'params' | 'group' | 'client'>,
    work: () => T | Promise<T>,
  ): Promise<T> {
    const begin = performance.now();
    try {
      return await work();
    } catch (error) {
      const { params, group, client } = request;
      const hidden = this.#hidden(asked, caller, params['name']);
      const upstream = hidden?.entry.upstream ?? asked.upstream;
      const operation = {
        ...{ kind: asked.kind, method: asked.method, params },
        ...(upstream !== undefined && { upstream }),
        ...(hidden !== undefined && { entry: hidden.entry }),
      };
      this.#tell({ caller, operation, group, client }, { error, begin, rule: hidden?.rule });
      throw error;
    }
  }

  /** No guard sees a subscription: it is told of here, however it ends. */
  async subscription(
    caller: Caller,
    uri: string,
    find: () => { readonly upstream: UpstreamName; readonly uri: string },
    add: (found: { readonly upstream: UpstreamName; readonly uri: string }) => Promise<Disposable>,
  ): Promise<Disposable> {
    const found = await this.before(SUBSCRIPTION, caller, { params: { uri } }, find);
    const operation = { ...SUBSCRIPTION, upstream: found.upstream, params: { uri: found.uri } };
    const [begin, rule, isRefused] = [performance.now(), undefined, false];
    try {
      const subscription = await add(found);
      this.#tell(
        { caller, operation },
        { payload: Payload.of({}), error: undefined, begin, rule, isRefused },
      );
      return subscription;
    } catch (error) {
      this.#tell({ caller, operation }, { error, begin, rule, isRefused });
      throw error;
    }
  }

  /** Asks whoever made the request about the tool; gives what they refuse it with. */
  check(call: RecordedCall, { check }: CallRequest): Error | undefined {
    const { entry } = call.operation;
    if (check === undefined || entry?.kind !== 'tool') return undefined;
    try {
      check(entry);
      return undefined;
    } catch (error) {
      this.#tell(call, { error, begin: performance.now(), rule: undefined });
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #tell(
    call: RecordedCall,
    { begin, ...rest }: Pick<EndedCall, 'error' | 'rule'> & Partial<EndedCall> & { readonly begin: number },
  ): void {
    const at = performance.timeOrigin + begin;
    const ms = performance.now() - begin;
    const { watch, facts } = this.#deps;
    watch()?.ended({ call, at, ms, payload: undefined, isRefused: true, facts, ...rest });
  }

  /** To the caller it does not exist; the record knows better. */
  #hidden(
    { kind, upstream }: Asked,
    caller: Caller,
    name: unknown,
  ): { readonly entry: ToolEntry; readonly rule: string } | undefined {
    const { catalog, sight } = this.#deps;
    if (kind !== 'tool' || typeof name !== 'string') return undefined;
    const whole = upstream === undefined ? catalog.current : catalog.alone(upstream);
    const entry = whole && findTool(whole, name);
    const decision = entry && sight.of(caller).decide(entry);
    return entry !== undefined && decision?.verdict === 'hide' ? { entry, rule: decision.rule } : undefined;
  }
}

/** Asked when a call is recorded, so that an entry is judged once. */
export function callFacts(
  sight: Sight,
  tierOf: (entry: ToolEntry) => ReturnType<CallFacts['tierOf']>,
): CallFacts {
  const known = new WeakMap<Entry, ReturnType<CallFacts['tierOf']>>();
  return {
    tierOf: (entry) => {
      if (entry.kind !== 'tool') return undefined;
      let tier = known.get(entry);
      if (tier === undefined) known.set(entry, (tier = tierOf(entry)));
      return tier;
    },
    ruleOf: (caller, entry) => sight.of(caller).decide(entry).rule,
  };
}
