import { Call, InputRequired } from './call.mjs';
import { checkEnvelope, checkHandshake, dressResult, eraOf, legacyVersions, metaKeys } from './eras.mjs';
import { methods } from './methods.mjs';
import { note, violation } from './note.mjs';
import { encode } from './raw-json.mjs';
import { RpcError } from './rpc-error.mjs';

/** An MCP server without a transport: receives messages from links and sends answers to exchanges. */
export class FixtureServer {
  links = new Set();

  constructor(definition, options) {
    this.definition = definition;
    this.options = options;
    this.era = options.text('era', 'legacy');
    this.versions = options.has('versions') ? options.text('versions').split(',') : legacyVersions;
    const { name, version = '1.0.0', title, info } = definition;
    this.info = { name, version, title, ...info };
    this.tools = definition.tools ?? [];
    this.prompts = definition.prompts ?? [];
    this.resources = definition.resources ?? [];
    this.templates = definition.templates ?? [];
    this.pageSize = options.number('page-size', definition.pageSize);
    this.ttlMs = options.number('ttl', 60_000);
    this.cacheScope = options.text('cache-scope', 'public');
  }

  capabilities() {
    const legacyOnly = this.era !== 'modern';
    return {
      ...(this.definition.tools !== undefined && { tools: { listChanged: true } }),
      ...(this.definition.prompts !== undefined && { prompts: { listChanged: true }, completions: {} }),
      ...(this.definition.resources !== undefined && { resources: { listChanged: true, subscribe: true } }),
      ...(legacyOnly && { logging: {} }),
      ...this.definition.capabilities,
    };
  }

  /** Handles one parsed message of a link. */
  async receive(link, message, exchange) {
    if (this.definition.intercept?.(message, { link, exchange, server: this }) === true) return;
    if (Array.isArray(message)) {
      violation('batch');
      exchange.answer(encode(errorMessage(null, new RpcError(-32600, 'Batches are not served.'))), 400);
    } else if (message.method === undefined) {
      if (!link.settle(message)) violation('answer-to-nothing', { id: message.id });
      exchange.accept();
    } else if (message.id === undefined) {
      this.#notified(link, message);
      exchange.accept();
    } else {
      await this.#serve(link, message, exchange);
    }
  }

  async #serve(link, message, exchange) {
    const era = eraOf(message, this.era);
    note('request', { method: message.method, id: message.id, link: link.id, era });
    let call;
    try {
      if (era === 'modern') {
        checkEnvelope(message, () => exchange.checkHeaders?.(message, this));
      } else {
        checkHandshake(message, link);
      }
      const method = methods[message.method];
      if (method === undefined || method.era === (era === 'modern' ? 'legacy' : 'modern')) {
        throw new RpcError(-32601, 'Method not found', { status: era === 'modern' ? 404 : 200 });
      }
      if (link.running.has(message.id)) violation('id-in-use', { id: message.id });
      call = new Call({ server: this, link, exchange, message, era });
      link.running.set(message.id, call);
      exchange.begin?.(message, era, (reason) => this.#cancel(link, message.id, reason));
      const result = await method.run(call.params, call);
      if (call.signal.aborted) return;
      const dressed = dressResult(result, { era, cacheable: method.cacheable === true, server: this });
      exchange.answer(encode({ jsonrpc: '2.0', id: message.id, result: dressed }));
    } catch (thrown) {
      // The protocol forbids an answer to a cancelled request.
      if (call?.signal.aborted) return;
      if (thrown instanceof InputRequired) {
        exchange.answer(encode({ jsonrpc: '2.0', id: message.id, result: thrown.result }));
      } else {
        exchange.answer(encode(errorMessage(message.id, thrown)), thrown.status);
      }
    } finally {
      if (link.running.get(message.id) === call) link.running.delete(message.id);
    }
  }

  #notified(link, { method, params }) {
    if (method === 'notifications/cancelled') {
      this.#cancel(link, params?.requestId, params?.reason);
    } else if (method === 'notifications/initialized') {
      link.initialized = true;
      this.links.add(link);
      note('initialized', { link: link.id });
      this.definition.onInitialized?.(this, link);
    } else {
      note('notification', { method, params, link: link.id });
    }
  }

  #cancel(link, id, reason) {
    const call = link.running.get(id);
    note('cancelled', { id, reason, tool: call?.params.name, wasRunning: call !== undefined, link: link.id });
    if (this.definition.ignoresCancellation === true) return;
    link.listens.delete(id);
    call?.cancel(reason);
  }

  /** Notifies every listening client that a list has changed: `tools`, `prompts` or `resources`. */
  changed(kind) {
    const method = `notifications/${kind}/list_changed`;
    this.#announce(
      method,
      {},
      (filter) => filter[`${kind}ListChanged`] === true,
      () => true,
    );
  }

  /** Notifies the subscribers of a resource that it has changed. */
  updated(uri) {
    this.#announce(
      'notifications/resources/updated',
      { uri },
      (filter) => filter.resourceSubscriptions?.includes(uri) === true,
      (link) => link.subscriptions.has(uri),
    );
  }

  /** Notifies the followers of a task of its status (tasks extension). */
  taskChanged(task) {
    this.#announce(
      'notifications/tasks',
      task,
      (filter) => filter.taskIds?.includes(task.taskId) === true,
      () => false,
    );
  }

  #announce(method, params, wantsModern, wantsLegacy) {
    for (const link of this.links) {
      if (link.version !== undefined && wantsLegacy(link)) {
        link.announce(encode({ jsonrpc: '2.0', method, ...(Object.keys(params).length > 0 && { params }) }));
      }
      for (const [id, { filter, send }] of link.listens) {
        if (!wantsModern(filter)) continue;
        const _meta = { [metaKeys.subscriptionId]: id };
        send(encode({ jsonrpc: '2.0', method, params: { ...params, _meta } }));
      }
    }
  }
}

function errorMessage(id, error) {
  const code = error.code !== undefined && typeof error.code === 'number' ? error.code : -32603;
  return {
    jsonrpc: '2.0',
    id,
    error: { code, message: error.message, ...(error.data !== undefined && { data: error.data }) },
  };
}
