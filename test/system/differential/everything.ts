import type { RawClient } from '../../support/raw-client.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { type Step, requestStep, callStep } from './transcript.ts';

/** The capabilities of the client; the reference server offers more tools to clients with more capabilities. */
export const sharedCapabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
export const withTasks = {
  ...sharedCapabilities,
  tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
};

const roots = [{ uri: 'file:///somewhere', name: 'Somewhere' }];

/** Answers all requests of the reference server; requests for tasks become tasks. */
export function answerEverything(client: RawClient): void {
  const task = {
    taskId: 'task-of-the-client',
    status: 'working',
    createdAt: 'x',
    lastUpdatedAt: 'x',
    ttl: 1000,
  };
  const said = { role: 'assistant', model: 'none', content: { type: 'text', text: 'An answer.' } };
  client.answers('roots/list', () => ({ roots }));
  client.answers('sampling/createMessage', (params) => ('task' in params ? { task } : said));
  client.answers('elicitation/create', (params) =>
    'task' in params ? { task } : { action: 'accept', content: { name: 'Ada', interpretation: 'technical' } },
  );
  client.answers('tasks/get', () => ({ ...task, status: 'completed' }));
  client.answers('tasks/result', () => said);
}

const file = 'demo://resource/static/document/features.md';
const data = 'data:text/plain;base64,SGVsbG8=';
const page = { url: 'https://example.com/', message: 'Please look.', elicitationId: 'page-1' };

/** Calls every method of the reference server, with valid and invalid arguments. */
export const everythingSteps: readonly Step[] = [
  ...lists(),
  requestStep('ping'),
  ...plainCalls(),
  ...prompts(),
  ...resources(),
  ...completions(),
  requestStep('logging/setLevel', { level: 'loud' }),
  requestStep('logging/setLevel', { level: 'emergency' }),
  callStep('toggle-simulated-logging'),
  callStep('toggle-simulated-logging', {}, { meta: { again: true } }),
  requestStep('logging/setLevel', { level: 'debug' }),
  ...questions(),
  ...mistakes(),
  requestStep('tasks/list'),
];

/** The reference server requests roots shortly after the handshake, and logs them. */
export const rootsStep: Step = {
  title: 'roots after the opening',
  hears: 2,
  act: () => Promise.resolve(),
};

export const taskSteps: readonly Step[] = [
  {
    title: 'a call that is a task',
    act: async (client) => {
      const params = { name: 'simulate-research-query', arguments: { topic: 'python', ambiguous: true } };
      const { task } = await client.request('tools/call', { ...params, task: { ttl: 60_000 } });
      const { taskId } = task as { taskId: string };
      await client.request('tasks/get', { taskId });
      await client.request('tasks/result', { taskId }, { withinMs: 20_000 });
      await client.request('tasks/get', { taskId });
      await client.request('tasks/list');
    },
  },
  {
    title: 'a task that is cancelled',
    act: async (client) => {
      const params = { name: 'simulate-research-query', arguments: { topic: 'rivers' } };
      const { task } = await client.request('tools/call', { ...params, task: { ttl: 60_000 } });
      await client.request('tasks/cancel', { taskId: (task as { taskId: string }).taskId });
    },
  },
];

/** Requests of the server that the client runs as tasks. */
export const clientTaskSteps: readonly Step[] = [
  callStep('trigger-sampling-request-async', { prompt: 'Say something.' }),
  callStep('trigger-elicitation-request-async', {}),
];

function lists(): readonly Step[] {
  const methods = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
  return [
    ...methods.map((method) => requestStep(method)),
    ...methods.map((method) => requestStep(method, { cursor: 'odd' })),
  ];
}

function plainCalls(): readonly Step[] {
  return [
    callStep('echo', { message: 'Hello' }),
    callStep('echo', { message: 'Hello' }, { meta: { 'example.com/trace': 7 } }),
    callStep('echo', {}),
    callStep('get-annotated-message', { messageType: 'error', includeImage: true }),
    callStep('get-annotated-message', { messageType: 'debug' }),
    callStep('get-env'),
    callStep('get-resource-links', { count: 3 }),
    callStep('get-resource-reference', { resourceType: 'Text', resourceId: 1 }),
    callStep('get-resource-reference', { resourceType: 'Blob', resourceId: 2 }),
    callStep('get-resource-reference', { resourceType: 'Other', resourceId: 0 }),
    callStep('get-structured-content', { location: 'Chicago' }),
    callStep('get-sum', { a: 2, b: 40 }),
    callStep('get-tiny-image'),
    callStep('gzip-file-as-resource', { name: 'a.gz', data, outputType: 'resource' }),
    callStep('gzip-file-as-resource', { name: 'b.gz', data, outputType: 'resourceLink' }),
    callStep('trigger-long-running-operation', { duration: 0.2, steps: 4 }),
    callStep(
      'trigger-long-running-operation',
      { duration: 0.2, steps: 4 },
      { meta: { progressToken: 'mine' } },
      4,
    ),
    cancelled('trigger-long-running-operation', { duration: 20, steps: 2 }),
  ];
}

function prompts(): readonly Step[] {
  const get = (name: string, args?: JsonObject): Step =>
    requestStep('prompts/get', args === undefined ? { name } : { name, arguments: args });
  return [
    get('simple-prompt'),
    get('args-prompt', { city: 'Paris', state: 'Texas' }),
    get('args-prompt'),
    get('completable-prompt', { department: 'Sales', name: 'Eve' }),
    get('resource-prompt', { resourceType: 'Text', resourceId: '1' }),
  ];
}

function resources(): readonly Step[] {
  return [
    requestStep('resources/read', { uri: file }),
    requestStep('resources/read', { uri: 'demo://resource/dynamic/text/1' }),
    requestStep('resources/read', { uri: 'demo://resource/dynamic/blob/2' }),
    requestStep('resources/read', { uri: 'demo://resource/dynamic/text/none' }),
    requestStep('resources/read', { uri: 'demo://resource/session/a.gz' }),
    requestStep('resources/subscribe', { uri: file }, {}, 1),
    callStep('toggle-subscriber-updates', {}, {}, 1),
    callStep('toggle-subscriber-updates', {}, { meta: { again: true } }),
    requestStep('resources/unsubscribe', { uri: file }, {}, 1),
  ];
}

function completions(): readonly Step[] {
  const complete = (ref: JsonObject, argument: JsonObject, context?: JsonObject): Step =>
    requestStep('completion/complete', { ref, argument, ...(context !== undefined && { context }) });
  const prompt = { type: 'ref/prompt', name: 'completable-prompt' };
  const template = { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' };
  return [
    complete(prompt, { name: 'department', value: 'S' }),
    complete(prompt, { name: 'name', value: 'E' }, { arguments: { department: 'Sales' } }),
    complete(template, { name: 'resourceId', value: '1' }),
    complete({ type: 'ref/prompt', name: 'nobody' }, { name: 'x', value: '' }),
    complete({ type: 'ref/resource', uri: 'demo://nowhere/{x}' }, { name: 'x', value: '' }),
    complete({ type: 'ref/nothing' }, { name: 'x', value: '' }),
  ];
}

function questions(): readonly Step[] {
  return [
    callStep('trigger-elicitation-request'),
    callStep('trigger-sampling-request', { prompt: 'Say something.', maxTokens: 10 }),
    callStep('trigger-url-elicitation', page),
    callStep('trigger-url-elicitation', { ...page, errorPath: true }),
  ];
}

function mistakes(): readonly Step[] {
  return [
    callStep('no-such-tool', { a: 1 }),
    requestStep('tools/call', { arguments: {} }),
    requestStep('tools/call'),
    requestStep('prompts/get', { name: 'no-such-prompt' }),
    requestStep('prompts/get'),
    requestStep('resources/read', { uri: 'demo://nowhere' }),
    requestStep('resources/read'),
    requestStep('completion/complete'),
    requestStep('vendor/no-such-method', { a: [1] }),
    requestStep('tasks/get', { taskId: 'none' }),
    requestStep('tasks/result', { taskId: 'none' }),
    requestStep('tasks/cancel', { taskId: 'none' }),
    {
      title: 'a notification that nobody knows',
      act: (client) => client.notify('notifications/vendor', { a: 1 }),
    },
  ];
}

/** Cancels a call, which the protocol forbids to answer. */
function cancelled(name: string, args: JsonObject): Step {
  return {
    title: `${name}, cancelled`,
    act: async (client) => {
      const giveUp = new AbortController();
      const progress = client.notifications.next(({ method }) => method === 'notifications/progress', {
        withinMs: 15_000,
      });
      const options = { signal: giveUp.signal, withinMs: 20_000, meta: { progressToken: 'gone' } };
      const call = client.callTool(name, { ...args, duration: 1, steps: 4 }, options);
      void call.catch(() => {});
      await progress;
      giveUp.abort();
      await call;
    },
  };
}
