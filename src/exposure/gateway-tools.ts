import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { Caller } from '../core/caller.ts';
import type { JsonObject } from '../core/json.ts';
import type { Exposure, ExposureChoice } from './exposure.ts';
import { ALWAYS_LOADED } from './meta-tools.ts';

/** A tool that the gateway answers itself. It is listed in every exposure. */
export interface GatewayTool {
  readonly definition: JsonObject & { readonly name: string };
  call(caller: Caller, request: CallRequest): Promise<Payload>;
}

/** Returns the gateway tools that are available now; returns the same list while nothing has changed. */
export type GatewayToolProvider = () => readonly GatewayTool[];

/** Adds the gateway's own tools to every chosen exposure. They take precedence over other tools with the same name. */
export function withGatewayTools(choose: ExposureChoice, gatewayTools: GatewayToolProvider): ExposureChoice {
  const extended = new WeakMap<Exposure, Exposure>();
  return (view, client) => {
    const inner = choose(view, client);
    let exposure = extended.get(inner);
    if (exposure === undefined) extended.set(inner, (exposure = addGatewayTools(inner, gatewayTools)));
    return exposure;
  };
}

function addGatewayTools(inner: Exposure, gatewayTools: GatewayToolProvider): Exposure {
  return {
    ...inner,
    tools: (view, revealed) => {
      const own = gatewayTools();
      if (own.length === 0) return inner.tools(view, revealed);
      const names = new Set<unknown>(own.map(({ definition }) => definition.name));
      const others = inner.tools(view, revealed).filter(({ name }) => !names.has(name));
      return [...own.map(({ definition }) => ({ ...definition, _meta: ALWAYS_LOADED })), ...others];
    },
    digest: (view, revealed) => {
      const names = gatewayTools().map(({ definition }) => definition.name);
      return [inner.digest(view, revealed), ...names].join(' ');
    },
    callTool: (name, request, context) => {
      const own = gatewayTools().find(({ definition }) => definition.name === name);
      return own === undefined ? inner.callTool(name, request, context) : own.call(context.caller, request);
    },
  };
}
