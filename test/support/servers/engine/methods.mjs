import { InputRequired } from './call.mjs';
import { discoverResult, initializeResult, metaKeys } from './eras.mjs';
import { note } from './note.mjs';
import { encode } from './raw-json.mjs';
import { RpcError } from './rpc-error.mjs';

/** The methods of the server. `era` limits a method to one era of the protocol; `cacheable` adds the caching fields to its result. */
export const methods = {
  initialize: { era: 'legacy', run: (params, call) => initializeResult(call.server, params, call.link) },
  'server/discover': {
    era: 'modern',
    cacheable: true,
    run: (params, call) => discoverResult(call.server, params),
  },
  ping: { era: 'legacy', run: () => ({}) },
  'logging/setLevel': { era: 'legacy', run: setLevel },
  'tools/list': { cacheable: true, run: listOf('tools') },
  'prompts/list': { cacheable: true, run: listOf('prompts') },
  'resources/list': { cacheable: true, run: listOf('resources') },
  'resources/templates/list': { cacheable: true, run: listOf('templates', 'resourceTemplates') },
  'tools/call': { run: callTool },
  'prompts/get': { run: getPrompt },
  'resources/read': { cacheable: true, run: readResource },
  'resources/subscribe': { era: 'legacy', run: subscribe },
  'resources/unsubscribe': { era: 'legacy', run: unsubscribe },
  'completion/complete': { run: complete },
  'subscriptions/listen': { era: 'modern', run: listen },
};

/** Returns one page of a list, without the functions in its entries. */
function listOf(kind, member = kind) {
  return (params, { server }) => {
    const all = server[kind].map((entry) =>
      Object.fromEntries(Object.entries(entry).filter(([, value]) => typeof value !== 'function')),
    );
    if (server.definition.page !== undefined)
      return server.definition.page(member, all, params.cursor, server.options);
    const size = server.pageSize ?? all.length;
    const from = params.cursor === undefined ? 0 : Number(Buffer.from(params.cursor, 'base64').toString());
    if (!Number.isInteger(from) || from < 0) throw new RpcError(-32602, 'Unknown cursor.');
    const to = from + size;
    const hasMore = size > 0 && to < all.length;
    return {
      [member]: all.slice(from, to),
      ...(server.definition.listMeta && { _meta: server.definition.listMeta }),
      ...(hasMore && { nextCursor: Buffer.from(String(to)).toString('base64') }),
    };
  };
}

async function callTool(params, call) {
  const { server, link } = call;
  note('call', {
    tool: params.name,
    id: call.id,
    arguments: params.arguments,
    meta: params._meta,
    link: link.id,
  });
  const tool = server.tools.find(({ name }) => name === params.name);
  if (tool === undefined) throw new RpcError(-32602, `Unknown tool: ${params.name}`);
  try {
    return await tool.call(params.arguments ?? {}, call);
  } catch (error) {
    // An error inside a tool becomes a result for the model; only a protocol error is sent as an error.
    const isProtocolError = error instanceof RpcError || error instanceof InputRequired;
    if (!isProtocolError && !call.signal.aborted) {
      return { content: [{ type: 'text', text: error.message }], isError: true };
    }
    throw error;
  } finally {
    note('called', { tool: params.name, id: call.id, cancelled: call.signal.aborted, link: link.id });
  }
}

function getPrompt(params, call) {
  note('prompt', { name: params.name, arguments: params.arguments });
  const prompt = call.server.prompts.find(({ name }) => name === params.name);
  if (prompt === undefined) throw new RpcError(-32602, `Unknown prompt: ${params.name}`);
  return prompt.get(params.arguments ?? {}, call);
}

async function readResource(params, call) {
  note('read', { uri: params.uri });
  const resource = call.server.resources.find(({ uri }) => uri === params.uri);
  if (resource !== undefined) return resource.read(call);
  for (const template of call.server.templates) {
    const contents = await template.read(params.uri, call);
    if (contents !== undefined) return contents;
  }
  throw new RpcError(call.era === 'modern' ? -32602 : -32002, 'Resource not found', {
    data: { uri: params.uri },
  });
}

function subscribe(params, { link }) {
  note('subscribe', { uri: params.uri, link: link.id });
  link.subscriptions.add(params.uri);
  return {};
}

function unsubscribe(params, { link }) {
  note('unsubscribe', { uri: params.uri, link: link.id });
  link.subscriptions.delete(params.uri);
  return {};
}

function setLevel(params, { link }) {
  note('set-level', { level: params.level, link: link.id });
  link.logLevel = params.level;
  return {};
}

function complete(params, call) {
  note('complete', { ref: params.ref, argument: params.argument, context: params.context });
  const { ref } = params;
  const entry =
    ref?.type === 'ref/prompt'
      ? call.server.prompts.find(({ name }) => name === ref.name)
      : call.server.templates.find(({ uriTemplate }) => uriTemplate === ref?.uri);
  if (entry === undefined) throw new RpcError(-32602, 'Unknown prompt or resource template.');
  const values = entry.complete?.(params.argument, params.context) ?? [];
  return { completion: { values, total: values.length, hasMore: false } };
}

/** Acknowledges a subscription. The request stays open until the client cancels it, because a response would end the subscription. */
function listen(params, call) {
  const { link, id } = call;
  const requested = params.notifications ?? {};
  const filter = Object.fromEntries(
    Object.entries(requested).filter(
      ([key, value]) => knownFilters.has(key) && (value === true || Array.isArray(value)),
    ),
  );
  note('listen', { id, asked: requested, link: link.id });
  const send = (text) => call.exchange.send(text);
  const _meta = { [metaKeys.subscriptionId]: id };
  send(
    encode({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta, notifications: filter },
    }),
  );
  return new Promise((resolve, reject) => {
    const end = () => resolve({ _meta });
    link.listens.set(id, { filter, send, end });
    call.server.links.add(link);
    call.signal.addEventListener('abort', () => reject(new Error('cancelled')));
  });
}

const knownFilters = new Set([
  'toolsListChanged',
  'promptsListChanged',
  'resourcesListChanged',
  'taskIds',
  'resourceSubscriptions',
]);
