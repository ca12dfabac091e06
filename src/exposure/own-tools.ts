import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { JsonObject } from '../model/json.ts';
import type { Exposure, ExposureChoice } from './exposure.ts';

/** A tool that we answer ourselves, listed beside the others however those are exposed. */
export interface OwnTool {
  readonly definition: JsonObject & { readonly name: string };
  call(caller: Caller, request: CallRequest): Promise<Payload>;
}

/** What this caller is offered at this moment; the same list while nothing changed. */
export type OfferedTools = () => readonly OwnTool[];

/** Any exposure, with tools of our own beside what it lists. */
export function withOwnTools(choose: ExposureChoice, offered: OfferedTools): ExposureChoice {
  const known = new WeakMap<Exposure, Exposure>();
  return (view, client) => {
    const inner = choose(view, client);
    let exposure = known.get(inner);
    if (exposure === undefined) known.set(inner, (exposure = beside(inner, offered)));
    return exposure;
  };
}

function beside(inner: Exposure, offered: OfferedTools): Exposure {
  return {
    ...inner,
    tools: (view, revealed) => {
      const own = offered();
      if (own.length === 0) return inner.tools(view, revealed);
      const names = new Set<unknown>(own.map(({ definition }) => definition.name));
      const others = inner.tools(view, revealed).filter(({ name }) => !names.has(name));
      return [...own.map(({ definition }) => definition), ...others];
    },
    digest: (view, revealed) => {
      const names = offered().map(({ definition }) => definition.name);
      return [inner.digest(view, revealed), ...names].join(' ');
    },
    callTool: (name, request, context) => {
      const own = offered().find(({ definition }) => definition.name === name);
      return own === undefined ? inner.callTool(name, request, context) : own.call(context.caller, request);
    },
  };
}
