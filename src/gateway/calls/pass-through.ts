import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import { isLogLevel } from '../../model/log-level.ts';
import type { Era, ServerFacts } from '../../model/server-facts.ts';

/** Between a client and us. */
const OF_THE_HOP: ReadonlySet<string> = new Set(['initialize', 'server/discover', 'subscriptions/listen']);

/** Methods that exist in one era only. */
const OF_ONE_ERA: ReadonlySet<string> = new Set([
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
]);

/** The capability without which a server may not know the method. */
const LISTS: Readonly<Record<string, string>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
};
const STANDING: Readonly<Record<string, string>> = {
  'logging/setLevel': 'logging',
  'resources/subscribe': 'resources',
  'resources/unsubscribe': 'resources',
};

export function isList(method: string): boolean {
  return Object.hasOwn(LISTS, method);
}

/** The parameter by which a method says what it is about. */
export function namedBy(method: string): string | undefined {
  return Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
}

/** Whether the protocol has it, so that we know what it does. */
export function isOfProtocol(method: string): boolean {
  return (
    isList(method) ||
    namedBy(method) !== undefined ||
    Object.hasOwn(STANDING, method) ||
    method === 'completion/complete' ||
    method === 'ping' ||
    method.startsWith('tasks/')
  );
}

/** Whether a method of a client means the same to the server. Tasks of the two eras are different protocols. */
export function passesBetween(method: string, client: Era, server: Era): boolean {
  if (OF_THE_HOP.has(method)) return false;
  return client === server || !(OF_ONE_ERA.has(method) || method.startsWith('tasks/'));
}

/** What we would answer ourselves, and the server would answer in another way. */
export function leftToServer(
  method: string,
  params: JsonObject,
  { era, facts }: { readonly era: Era; readonly facts: ServerFacts },
): boolean {
  const { capabilities, unserved = [] } = facts;
  const list = LISTS[method];
  if (list !== undefined)
    // Every list is one page here, so that a cursor cannot be one of ours.
    return !(list in capabilities) || unserved.includes(method) || params['cursor'] !== undefined;
  if (era === 'legacy' && facts.era === 'legacy' && !isWellFormed(method, params)) return true;
  const standing = STANDING[method];
  if (standing === undefined || facts.era !== era) return false;
  return !(standing in capabilities) || (method === 'logging/setLevel' && !isLogLevel(params['level']));
}

/** Whether it says what it is about. Headers of the modern era repeat that, so that such a request cannot be made there. */
function isWellFormed(method: string, params: JsonObject): boolean {
  const named = namedBy(method);
  if (named !== undefined) return typeof params[named] === 'string';
  return method !== 'completion/complete' || isJsonObject(params['ref']);
}

const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};
