// The four APIs that AI clients speak. Each dialect reads a request into one form and writes an answer in the client's own form.
//
// A request becomes `{ tools, turns, isStream }`: the tools that the model can see, each `{ name, namespace, description, kind, isDeferred }`, and the
// finished tool calls, each `{ name, args, result }`. An answer is `{ text }` or `{ tool, args }`.

import { randomBytes } from 'node:crypto';

/** Returns the dialect of a request path, or undefined. */
export function findDialect(path) {
  return dialects.find(({ pattern }) => pattern.test(path));
}

const anthropicMessages = {
  pattern: /\/messages(?:\?|$)/,
  read(body) {
    const blocks = (body.messages ?? []).flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const results = new Map(
      blocks.filter(({ type }) => type === 'tool_result').map((block) => [block.tool_use_id, block.content]),
    );
    // The client's own tool search answers with references to deferred tools, which loads them.
    const loaded = new Set(
      [...results.values()].flat().flatMap((part) => (part?.type === 'tool_reference' ? part.tool_name : [])),
    );
    return {
      isStream: body.stream === true,
      tools: (body.tools ?? []).map(({ name, description, type, defer_loading: isDeferred }) => ({
        name,
        description,
        kind: type,
        isDeferred: isDeferred === true && !loaded.has(name),
      })),
      turns: blocks
        .filter(({ type, id }) => type === 'tool_use' && results.has(id))
        .map(({ id, name, input }) => ({ name, args: input, result: toText(results.get(id)) })),
    };
  },
  write(response, answer, { body, isStream }) {
    const block =
      answer.text === undefined
        ? { type: 'tool_use', id: newId('toolu_'), name: answer.tool.name, input: answer.args }
        : { type: 'text', text: answer.text };
    const message = {
      id: newId('msg_'),
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: [block],
      stop_reason: block.type === 'text' ? 'end_turn' : 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 10 },
    };
    if (!isStream) return sendJson(response, message);
    const send = openStream(response);
    const event = (type, fields) => send({ type, ...fields }, type);
    const isText = block.type === 'text';
    event('message_start', { message: { ...message, content: [], stop_reason: null } });
    event('content_block_start', {
      index: 0,
      content_block: isText ? { ...block, text: '' } : { ...block, input: {} },
    });
    event('content_block_delta', {
      index: 0,
      delta: isText
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
    });
    event('content_block_stop', { index: 0 });
    event('message_delta', {
      delta: { stop_reason: message.stop_reason, stop_sequence: null },
      usage: { output_tokens: 10 },
    });
    event('message_stop', {});
    response.end();
  },
};

const openaiResponses = {
  pattern: /\/responses(?:\?|$)/,
  read(body) {
    const items = Array.isArray(body.input) ? body.input : [];
    const outputs = new Map(
      items.filter(({ type }) => type?.endsWith('_output')).map((item) => [item.call_id, item]),
    );
    // The client's own tool search answers with the definitions of deferred tools.
    const found = [...outputs.values()].flatMap(({ type, tools }) =>
      type === 'tool_search_output' ? (tools ?? []) : [],
    );
    return {
      isStream: body.stream === true,
      tools: flattenTools([...(body.tools ?? []), ...found]),
      turns: items
        .filter(({ type, call_id: id }) => type?.endsWith('_call') && outputs.has(id))
        .map((item) => ({
          name: item.type === 'tool_search_call' ? 'tool_search' : item.name,
          args: item.arguments,
          result: toText(outputs.get(item.call_id).output ?? outputs.get(item.call_id).tools),
        })),
    };
  },
  write(response, answer, { body, isStream }) {
    const item = responsesItem(answer);
    const result = {
      id: newId('resp_'),
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: body.model,
      output: [item],
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [],
      usage: {
        input_tokens: 10,
        output_tokens: 10,
        total_tokens: 20,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 },
      },
    };
    if (!isStream) return sendJson(response, result);
    const send = openStream(response);
    let sequence = 0;
    const event = (type, fields) => send({ type, sequence_number: sequence++, ...fields }, type);
    const at = { item_id: item.id, output_index: 0 };
    event('response.created', { response: { ...result, status: 'in_progress', output: [], usage: null } });
    if (item.type === 'message') {
      const [part] = item.content;
      const inPart = { ...at, content_index: 0 };
      event('response.output_item.added', { output_index: 0, item: { ...item, content: [] } });
      event('response.content_part.added', { ...inPart, part: { ...part, text: '' } });
      event('response.output_text.delta', { ...inPart, delta: part.text });
      event('response.output_text.done', { ...inPart, text: part.text });
      event('response.content_part.done', { ...inPart, part });
    } else if (item.type === 'function_call') {
      event('response.output_item.added', { output_index: 0, item: { ...item, arguments: '' } });
      event('response.function_call_arguments.delta', { ...at, delta: item.arguments });
      event('response.function_call_arguments.done', { ...at, arguments: item.arguments });
    } else event('response.output_item.added', { output_index: 0, item });
    event('response.output_item.done', { output_index: 0, item });
    event('response.completed', { response: result });
    response.end();
  },
};

function responsesItem({ text, tool, args }) {
  const status = 'completed';
  if (text !== undefined) {
    const content = [{ type: 'output_text', text, annotations: [] }];
    return { type: 'message', id: newId('msg_'), role: 'assistant', status, content };
  }
  const call = { call_id: newId('call_'), status };
  if (tool.kind === 'tool_search')
    return { type: 'tool_search_call', id: newId('tsc_'), ...call, execution: 'client', arguments: args };
  const place = tool.namespace === undefined ? {} : { namespace: tool.namespace };
  return {
    type: 'function_call',
    id: newId('fc_'),
    ...call,
    name: tool.name,
    ...place,
    arguments: JSON.stringify(args),
  };
}

const openaiChat = {
  pattern: /\/chat\/completions(?:\?|$)/,
  read(body) {
    const messages = body.messages ?? [];
    const results = new Map(
      messages.filter(({ role }) => role === 'tool').map((each) => [each.tool_call_id, each.content]),
    );
    return {
      isStream: body.stream === true,
      tools: flattenTools(body.tools),
      turns: messages
        .flatMap((message) => message.tool_calls ?? [])
        .filter(({ id }) => results.has(id))
        .map(({ id, function: called }) => ({
          name: called.name,
          args: called.arguments,
          result: toText(results.get(id)),
        })),
    };
  },
  write(response, { text, tool, args }, { body, isStream }) {
    const calls = text === undefined && [
      {
        id: newId('call_'),
        type: 'function',
        function: { name: tool.name, arguments: JSON.stringify(args) },
      },
    ];
    const message = { role: 'assistant', content: text ?? null, ...(calls && { tool_calls: calls }) };
    const reason = calls ? 'tool_calls' : 'stop';
    const common = { id: newId('chatcmpl-'), created: 1, model: body.model };
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
    if (!isStream)
      return sendJson(response, {
        ...common,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: reason }],
        usage,
      });
    const send = openStream(response);
    const chunk = (fields) => send({ ...common, object: 'chat.completion.chunk', ...fields });
    const delta = calls
      ? { ...message, tool_calls: calls.map((call, index) => ({ index, ...call })) }
      : message;
    chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
    chunk({ choices: [], usage });
    response.end('data: [DONE]\n\n');
  },
};

const gemini = {
  pattern: /:(?:streamG|g)enerateContent(?:\?|$)/,
  read(body, path) {
    const parts = (body.contents ?? []).flatMap((content) => content.parts ?? []);
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    const results = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
    return {
      isStream: path.includes(':streamGenerateContent'),
      tools: flattenTools(body.tools),
      turns: results.map(({ name, response }, index) => ({
        name,
        args: calls[index]?.args,
        result: toText(response),
      })),
      // Helper requests of the client (routing, loop detection) demand JSON of a given schema.
      demandsJson: body.generationConfig?.responseMimeType === 'application/json',
    };
  },
  write(response, answer, { isStream, demandsJson }) {
    const text = demandsJson ? JSON.stringify(geminiHelperAnswer) : answer.text;
    const part =
      text === undefined
        ? { functionCall: { id: newId('fc'), name: answer.tool.name, args: answer.args } }
        : { text };
    const result = {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
      modelVersion: 'scripted',
    };
    if (!isStream) return sendJson(response, result);
    openStream(response)(result);
    response.end();
  },
};

/** Has the members that the schemas of the helper requests of Gemini CLI require. */
const geminiHelperAnswer = {
  complexity_reasoning: 'scripted',
  complexity_score: 10,
  reasoning: 'scripted',
  model_choice: 'flash',
  next_speaker: 'user',
  confidence: 1,
  unproductive_state_analysis: 'scripted',
  unproductive_state_confidence: 0,
};

const dialects = [anthropicMessages, openaiResponses, openaiChat, gemini];

/** Flattens namespaces and Gemini's groups of function declarations. */
function flattenTools(tools, namespace) {
  return (tools ?? []).flatMap((tool) => {
    if (tool.functionDeclarations !== undefined) return flattenTools(tool.functionDeclarations);
    if (tool.type === 'namespace') return flattenTools(tool.tools, tool.name);
    const name = tool.name ?? tool.function?.name ?? tool.type;
    const description = tool.description ?? tool.function?.description;
    return [{ name, namespace, description, kind: tool.type, isDeferred: false }];
  });
}

function toText(value) {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((part) => part?.text ?? JSON.stringify(part)).join('\n');
  return JSON.stringify(value) ?? '';
}

function sendJson(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function openStream(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  return (data, event) => {
    response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
  };
}

function newId(prefix) {
  return prefix + randomBytes(8).toString('hex');
}
