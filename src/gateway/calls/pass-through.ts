import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { isLogLevel } from '../../core/log-level.ts';
import type { Era, ServerFacts } from '../../core/server-facts.ts';

/** Methods that concern only the connection between client and gateway. */
const CONNECTION_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'subscriptions/listen',
]);

/** Methods that exist in one protocol era only. */
const SINGLE_ERA_METHODS: ReadonlySet<string> = new Set([
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
]);

/** The capability that a server must declare to support a list method, by method. */
const LIST_CAPABILITIES: Readonly<Record<string, string>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
};

/** The capability that a server must declare to support a method that changes a session, by method. */
const SESSION_CAPABILITIES: Readonly<Record<string, string>> = {
  'logging/setLevel': 'logging',
  'resources/subscribe': 'resources',
  'resources/unsubscribe': 'resources',
};

/** The parameter that contains the name of an entry, by method. */
const TARGET_PARAMETERS: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

export function isListMethod(method: string): boolean {
  return Object.hasOwn(LIST_CAPABILITIES, method);
}

/** Returns the parameter with which a method names its entry. */
export function targetParameter(method: string): string | undefined {
  return Object.hasOwn(TARGET_PARAMETERS, method) ? TARGET_PARAMETERS[method] : undefined;
}

/** Whether the protocol defines the method. The effect of other methods is unknown. */
export function isProtocolMethod(method: string): boolean {
  return (
    isListMethod(method) ||
    targetParameter(method) !== undefined ||
    Object.hasOwn(SESSION_CAPABILITIES, method) ||
    method === 'completion/complete' ||
    method === 'ping' ||
    method.startsWith('tasks/')
  );
}

/** Whether a method has the same meaning for client and server. Task methods differ between the two eras. */
export function canPassBetween(method: string, client: Era, server: Era): boolean {
  if (CONNECTION_METHODS.has(method)) return false;
  return client === server || !(SINGLE_ERA_METHODS.has(method) || method.startsWith('tasks/'));
}

/** Whether the server must answer a request itself, because the gateway's answer would differ. */
export function mustServerAnswer(
  method: string,
  params: JsonObject,
  { era, facts }: { readonly era: Era; readonly facts: ServerFacts },
): boolean {
  const { capabilities, unserved = [] } = facts;
  const listCapability = LIST_CAPABILITIES[method];
  if (listCapability !== undefined)
    // The gateway's lists have a single page, so it never issues a cursor. Only the server can answer a request with one.
    return !(listCapability in capabilities) || unserved.includes(method) || params['cursor'] !== undefined;
  // The client receives the server's own error for an invalid request.
  if (era === 'legacy' && facts.era === 'legacy' && !namesTarget(method, params)) return true;
  const sessionCapability = SESSION_CAPABILITIES[method];
  if (sessionCapability === undefined || facts.era !== era) return false;
  // The client also receives the server's own error for a method that the server does not support, and for an unknown log level.
  return (
    !(sessionCapability in capabilities) || (method === 'logging/setLevel' && !isLogLevel(params['level']))
  );
}

/**
 * Whether a request names the entry that its method requires; true for all other methods. Only legacy requests are checked: in the modern
 * era headers repeat the name, so a request without one cannot occur.
 */
function namesTarget(method: string, params: JsonObject): boolean {
  const parameter = targetParameter(method);
  if (parameter !== undefined) return typeof params[parameter] === 'string';
  return method !== 'completion/complete' || isJsonObject(params['ref']);
}
