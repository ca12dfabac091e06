import { readFileSync } from 'node:fs';

import { type RunningGateway, startGateway } from './gateway.ts';
import type { RawClient } from './raw-client.ts';
import type { JsonObject, ToolResult } from './raw-messages.ts';
import { textOfResult } from './client-helpers.ts';

/** One of many clients of a gateway; it answers every question with its own name. */
export interface NamedClient extends AsyncDisposable {
  readonly who: string;
  readonly client: RawClient;
  /** The questions it received, each with the client name in the question. */
  readonly questions: { readonly method: string; readonly for: string | undefined }[];
  call(tool: string, args?: JsonObject, meta?: JsonObject): Promise<string>;
}

const KINDS = [
  { over: 'http', era: 'legacy' },
  { over: 'sse', era: 'legacy' },
  { over: 'http', era: 'modern' },
] as const;
/** One in so many clients uses stdio. There are only a few, because each is a separate process. */
const CLIENTS_PER_PIPE = 25;
/** The capabilities of each of the clients. */
export const manyCapabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const logLevel = 'io.modelcontextprotocol/logLevel';

/** Opens clients of every kind, connected at the same time. */
export function openManyClients(gateway: RunningGateway, count: number): Promise<readonly NamedClient[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => namedClient(gateway, at)));
}

async function namedClient(gateway: RunningGateway, at: number): Promise<NamedClient> {
  const who = `client-${at}`;
  const identity = { capabilities: manyCapabilities, clientInfo: { name: who, version: '1' } };
  const kind = KINDS[at % KINDS.length] ?? KINDS[0];
  const pipe = at % CLIENTS_PER_PIPE === 0 ? await startPipe(gateway) : undefined;
  const client =
    pipe === undefined
      ? await gateway.client({ ...kind, ...identity })
      : await pipe.client({ era: at % 2 === 0 ? 'legacy' : 'modern', ...identity });
  const asked: NamedClient['questions'] = [];
  const answers = answersOf(who);
  for (const [method, answer] of Object.entries(answers)) {
    client.answers(method, (params) => {
      asked.push({ method, for: addresseeOf(params) });
      return answer;
    });
  }
  if (client.era === 'legacy') await client.request('logging/setLevel', { level: 'debug' });
  return {
    who,
    client,
    questions: asked,
    async call(tool, args = {}, meta = {}) {
      const all = client.era === 'modern' ? { ...meta, [logLevel]: 'debug' } : meta;
      let params: JsonObject = { name: tool, arguments: { who, ...args } };
      for (;;) {
        const result = await client.request('tools/call', params, { meta: all, withinMs: 20_000 });
        if (result['resultType'] !== 'input_required') return textOfResult(result as ToolResult);
        params = { ...params, ...answerQuestions(result, { asked, answers }) };
      }
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await pipe?.[Symbol.asyncDispose]();
    },
  };
}

/** Starts `serve` over stdio, which connects to the running gateway. */
function startPipe({ configFile, home }: RunningGateway): Promise<RunningGateway> {
  const { mcpServers, ...config } = JSON.parse(readFileSync(configFile, 'utf8')) as {
    mcpServers: Record<string, unknown>;
  };
  return startGateway({ mcpServers, config, home, listen: 'attached' });
}

function answerQuestions(
  result: JsonObject,
  {
    asked,
    answers,
  }: { readonly asked: NamedClient['questions']; readonly answers: Readonly<Record<string, JsonObject>> },
): JsonObject {
  const questions = Object.entries(result['inputRequests'] as Record<string, JsonObject>);
  const inputResponses = questions.map(([key, { method, params }]) => {
    asked.push({ method: String(method), for: addresseeOf(params) });
    return [key, answers[String(method)]] as const;
  });
  return { inputResponses: Object.fromEntries(inputResponses), requestState: result['requestState'] };
}

function answersOf(who: string): Readonly<Record<string, JsonObject>> {
  return {
    'elicitation/create': { action: 'accept', content: { name: who } },
    'sampling/createMessage': { role: 'assistant', model: 'm', content: { type: 'text', text: who } },
    'roots/list': { roots: [{ uri: `file:///${who}` }] },
  };
}

/** Returns the client in the text `for NAME`, which the fixture writes into every message. */
function addresseeOf(params: unknown): string | undefined {
  return /for (client-\d+)/.exec(JSON.stringify(params ?? {}))?.[1];
}
