import type { JsonObject } from '../../support/raw-messages.ts';
import { SERVERS } from './traffic.ts';
import type { Request, ServerName } from './traffic.ts';

/** The required answer: an error with one of these codes, or a result with at least these members. */
export type Answer = { readonly error: number | readonly number[] } | { readonly result: JsonObject };

/** A call that a server must receive exactly once. */
export interface ServerCall {
  readonly server: ServerName;
  readonly kind: 'echo' | 'progress' | 'fail' | 'rpc-error' | 'slow' | 'prompt' | 'read' | 'complete';
  readonly tag: string;
  /** The call may be cancelled before it is sent; a server that received the call must receive the cancellation, too. */
  readonly isCancelled?: boolean;
}

const TOOLS = ['echo', 'progress', 'fail', 'rpc-error'] as const;

export function paramsOf(
  request: Request,
  tag: string,
): { readonly method: string; readonly params: JsonObject } {
  const { kind, server, steps } = request;
  const call = (name: string, args: JsonObject) => ({
    method: 'tools/call',
    params: { name, arguments: args },
  });
  switch (kind) {
    case 'list-with-cursor':
      return { method: 'tools/list', params: { cursor: tag } };
    case 'echo':
      return call(`${server}__echo`, { text: tag });
    case 'progress':
      return call(`${server}__progress`, { steps, tag });
    case 'fail':
    case 'rpc-error':
      return call(`${server}__${kind}`, { tag });
    case 'unknown-tool':
      return call(`${server}__nothing`, { tag });
    case 'tool-without-name':
      return { method: 'tools/call', params: { arguments: { tag } } };
    case 'prompt':
      return { method: 'prompts/get', params: { name: `${server}__greet`, arguments: { name: tag } } };
    case 'unknown-prompt':
      return { method: 'prompts/get', params: { name: tag } };
    case 'read':
      return { method: 'resources/read', params: { uri: itemOf(server, tag) } };
    case 'unknown-resource':
      return { method: 'resources/read', params: { uri: `nowhere:///${tag}` } };
    case 'read-without-uri':
      return { method: 'resources/read', params: {} };
    case 'complete': {
      const ref = { type: 'ref/prompt', name: `${server}__greet` };
      return { method: 'completion/complete', params: { ref, argument: { name: 'name', value: tag } } };
    }
    case 'complete-nothing':
      return { method: 'completion/complete', params: { ref: { type: tag }, argument: {} } };
    case 'set-level':
      return { method: 'logging/setLevel', params: { level: 'info' } };
    case 'set-no-level':
      return { method: 'logging/setLevel', params: { level: tag } };
    case 'subscribe':
    case 'unsubscribe':
      return { method: `resources/${kind}`, params: { uri: itemOf(server, tag) } };
    case 'subscribe-unknown':
      return { method: 'resources/subscribe', params: { uri: `nowhere:///${tag}` } };
    case 'discover':
      return { method: 'server/discover', params: {} };
    case 'listen':
      return { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } };
    default:
      return { method: kind, params: {} };
  }
}

/** Returns the expected answer to a request that is valid in its era. */
export function expectedOf(
  { kind, server, steps }: Request,
  { tag, isModern }: { readonly tag: string; readonly isModern: boolean },
): { readonly answer: Answer; readonly call?: Omit<ServerCall, 'tag'> } {
  const complete = isModern ? { resultType: 'complete' } : {};
  const cacheable = isModern ? { ...complete, ttlMs: 0, cacheScope: 'private' } : {};
  const says = (text: string) => ({ result: { ...complete, content: [{ type: 'text', text }] } });
  switch (kind) {
    case 'echo':
      return { answer: says(tag), call: { server, kind } };
    case 'progress':
      return { answer: says(`${steps} steps`), call: { server, kind } };
    case 'fail':
      return {
        answer: { result: { ...says('The tool failed.').result, isError: true } },
        call: { server, kind },
      };
    case 'rpc-error':
      return { answer: { error: -32050 }, call: { server, kind } };
    case 'prompt': {
      const messages = [{ content: { type: 'text', text: `Hello ${tag}!` } }, {}];
      return { answer: { result: { ...complete, messages } }, call: { server, kind } };
    }
    case 'read': {
      const uri = itemOf(server, tag);
      const contents = [{ uri, text: JSON.stringify({ id: tag }) }];
      return { answer: { result: { ...cacheable, contents } }, call: { server, kind } };
    }
    case 'complete':
      return { answer: { result: { ...complete, completion: { values: [] } } }, call: { server, kind } };
    case 'unknown-resource':
    case 'subscribe-unknown':
      return { answer: { error: isModern ? -32602 : -32002 } };
    case 'ping':
    case 'set-level':
    case 'subscribe':
    case 'unsubscribe':
      return { answer: { result: {} } };
    case 'discover':
      return { answer: { result: { ...cacheable, supportedVersions: ['2026-07-28'] } } };
    case 'tools/list': {
      const tools = SERVERS.flatMap((name) => TOOLS.map((tool) => ({ name: `${name}__${tool}` })));
      return { answer: { result: { ...cacheable, tools } } };
    }
    case 'prompts/list':
      return {
        answer: { result: { ...cacheable, prompts: SERVERS.map((name) => ({ name: `${name}__greet` })) } },
      };
    case 'resources/list':
      return { answer: { result: { ...cacheable, resources: [] } } };
    case 'resources/templates/list': {
      const resourceTemplates = SERVERS.map((name) => ({ uriTemplate: itemOf(name, '{id}') }));
      return { answer: { result: { ...cacheable, resourceTemplates } } };
    }
    default:
      return { answer: { error: -32602 } };
  }
}

/** Both servers have the same template, so clients see it with a prefix. */
function itemOf(server: ServerName, id: string): string {
  return `trunkline://${server}/fixture://item/${id}`;
}
