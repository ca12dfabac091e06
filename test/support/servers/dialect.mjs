#!/usr/bin/env node
// Uses methods and fields outside of every protocol revision, runs tasks, serves pages, and declares neither prompts nor resources.
import { serve } from './engine/engine.mjs';
import { note } from './engine/note.mjs';
import { encode } from './engine/raw-json.mjs';
import { RpcError } from './engine/rpc-error.mjs';
import { object, string, text } from './engine/schema.mjs';

const tasks = new Map();
let begun = 0;

/** Methods that only this server has, in either era. */
const dialect = {
  'vendor/repeat': ({ _meta, ...params }) => ({ repeated: params }),
  'vendor/fail': () => {
    throw new RpcError(-31999, 'Failed as asked.', { data: { deep: [1, { two: 2 }] } });
  },
  'prompts/list': () => {
    throw new RpcError(-32601, 'No prompts here.');
  },
  'resources/templates/list': () => {
    throw new RpcError(-32601, 'No templates here.');
  },
  'vendor/ask-back': async (params, link, exchange) => ({
    answer: await link.ask('vendor/question', params, (line) => exchange.send(line)),
  }),
  'tasks/get': ({ taskId }) => ({ ...known(taskId) }),
  'tasks/result': ({ taskId }) => text(`The result of ${known(taskId).taskId}.`),
  'tasks/cancel': ({ taskId }) => Object.assign(known(taskId), { status: 'cancelled' }),
  'tasks/list': () => ({ tasks: [...tasks.values()] }),
};

await serve((options) => ({
  name: 'dialect',
  listMeta: { 'example.com/list': { exact: 1 } },
  capabilities: {
    experimental: { 'example.com/dialect': { level: 3 } },
    ...(options.text('era', 'legacy') === 'modern'
      ? { extensions: { 'io.modelcontextprotocol/tasks': {} } }
      : { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
  },
  tools: [
    tool('begin', (_args, call) => {
      const taskId = options.has('same-ids') ? `task-${++begun}` : `task-${process.pid}-${++begun}`;
      const task = { taskId, status: 'working', createdAt: 'x', lastUpdatedAt: 'x', ttl: 60_000 };
      tasks.set(taskId, task);
      if (call.era === 'modern') return { resultType: 'task', ...task };
      call.link.announce(line('notifications/tasks/status', task));
      return { task };
    }),
    tool('finish', ({ taskId }, call) => {
      const task = Object.assign(known(taskId), { status: 'completed' });
      if (call.era === 'modern') call.server.taskChanged(task);
      else call.link.announce(line('notifications/tasks/status', task));
      return text('finished');
    }),
    tool('show-page', async (_args, call) => {
      const elicitationId = `page-${process.pid}-${++begun}`;
      const params = { mode: 'url', url: 'https://example.com/', message: 'Please look.', elicitationId };
      await call.ask({ answer: { method: 'elicitation/create', params } });
      return text(elicitationId);
    }),
    tool('visit-first', async (_args, call) => {
      const page = { mode: 'url', url: 'https://example.com/consent', message: 'Agree first.' };
      if (call.era === 'modern') await call.ask({ page: { method: 'elicitation/create', params: page } });
      else if (call.link.visited !== true) {
        call.link.visited = true;
        const elicitations = [{ ...page, elicitationId: `page-${++begun}` }];
        throw new RpcError(-32042, 'A page has to be visited first.', { data: { elicitations } });
      }
      return text('visited');
    }),
    tool('page-done', ({ elicitationId }, call) => {
      call.link.announce(line('notifications/elicitation/complete', { elicitationId }));
      return text('told');
    }),
    tool('say', (_args, call) => {
      call.notify('notifications/vendor/said', { where: 'in a call' });
      return text('said');
    }),
    tool('refuse', ({ code }) => {
      const data = { requiredCapabilities: { sampling: {} }, supported: ['1999-01-01'] };
      throw new RpcError(Number(code), 'Not like this.', { data, status: 400 });
    }),
  ],
  intercept(message, { link, exchange, server }) {
    if (message.method === 'notifications/vendor/heard') {
      note('heard', { params: message.params });
      link.announce(line('notifications/vendor/answered', message.params));
      exchange.accept();
      return true;
    }
    const method = dialect[message.method];
    if (method === undefined || message.id === undefined) return false;
    note('request', { method: message.method, id: message.id, link: link.id });
    void answer(message, () => method(message.params ?? {}, link, exchange), exchange, server);
    return true;
  },
}));

async function answer(message, run, exchange, server) {
  const envelope = { jsonrpc: '2.0', id: message.id };
  try {
    const result = await run();
    const dressed = server.era === 'modern' ? { resultType: 'complete', ...result } : result;
    exchange.answer(encode({ ...envelope, result: dressed }));
  } catch ({ code = -32603, message: text, data, rpc }) {
    exchange.answer(encode({ ...envelope, error: rpc ?? { code, message: text, data } }));
  }
}

function known(taskId) {
  const task = tasks.get(taskId);
  if (task === undefined) throw new RpcError(-32602, `No task ${taskId} here.`);
  return task;
}

function line(method, params) {
  return encode({ jsonrpc: '2.0', method, params });
}

function tool(name, call) {
  const inputSchema = object({ taskId: string, elicitationId: string, code: string });
  return { name, description: `Does ${name}.`, inputSchema, call };
}
