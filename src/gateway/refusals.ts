import type { Catalog } from '../catalog/catalog.ts';
import type { Caller } from '../model/caller.ts';
import type { Entry, ToolEntry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { CallWatch } from '../observe/audit/audit-trail.ts';
import type { CallFacts, RecordedCall } from '../observe/ended-call.ts';
import { findTool } from './route.ts';
import type { CallRequest } from './call-request.ts';
import type { Sight } from './sight.ts';

/** What a client wants before it is known whether there is such a thing. */
export interface Asked {
  readonly kind: RecordedCall['operation']['kind'];
  readonly method: string;
  /** Where one server is served alone. */
  readonly upstream?: UpstreamName;
}

interface RefusalsDeps {
  readonly watch: CallWatch | undefined;
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
    request: CallRequest,
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

  /** Asks whoever made the request about the tool. */
  check(call: RecordedCall, { check }: CallRequest): void {
    const { entry } = call.operation;
    if (check === undefined || entry?.kind !== 'tool') return;
    try {
      check(entry);
    } catch (error) {
      this.#tell(call, { error, begin: performance.now(), rule: undefined });
      throw error;
    }
  }

  #tell(
    call: RecordedCall,
    {
      error,
      begin,
      rule,
    }: { readonly error: unknown; readonly begin: number; readonly rule: string | undefined },
  ): void {
    const at = performance.timeOrigin + begin;
    const ms = performance.now() - begin;
    const { watch, facts } = this.#deps;
    watch?.ended({ call, at, ms, payload: undefined, error, isRefused: true, rule, facts });
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
