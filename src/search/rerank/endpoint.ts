import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import { chatPrompt, numbersIn } from './prompt.ts';

/** What is asked: which of these texts fit the query best. */
export interface Question {
  readonly query: string;
  readonly texts: readonly string[];
}

/** How one kind of endpoint is asked and how its answer is read. */
export interface EndpointKind {
  request(
    question: Question,
    options: { readonly url: string; readonly model: string; readonly key: string | undefined },
  ): { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: JsonObject };
  /** Places of texts, the best first, as the endpoint said; undefined if it said none. Nothing about them was checked. */
  read(answer: unknown): readonly unknown[] | undefined;
}

/**
 * Chat completions take a list in words and answer one; `temperature` and limits are left to `body`, since some models
 * refuse them. `rerank` is what servers for models of that kind speak: Cohere, Jina, vLLM, llama.cpp and others.
 */
export const ENDPOINT_KINDS: Readonly<Record<'openai' | 'gemini' | 'rerank', EndpointKind>> = {
  openai: {
    request: (question, { url, model, key }) => ({
      url: joined(url, 'chat/completions'),
      headers: bearer(key),
      body: { model, messages: [{ role: 'user', content: chatPrompt(question) }] },
    }),
    read(answer) {
      const [choice] = arrayIn(answer, 'choices');
      const message = isJsonObject(choice) ? choice['message'] : undefined;
      return placesIn(isJsonObject(message) ? message['content'] : undefined);
    },
  },
  gemini: {
    request: (question, { url, model, key }) => ({
      url: joined(url, `models/${encodeURIComponent(model)}:generateContent`),
      headers: key === undefined ? {} : { 'x-goog-api-key': key },
      body: { contents: [{ role: 'user', parts: [{ text: chatPrompt(question) }] }] },
    }),
    read(answer) {
      const [candidate] = arrayIn(answer, 'candidates');
      const content = isJsonObject(candidate) ? candidate['content'] : undefined;
      const texts = arrayIn(content, 'parts').map((part) => (isJsonObject(part) ? part['text'] : ''));
      return placesIn(texts.filter((text) => typeof text === 'string').join(''));
    },
  },
  rerank: {
    request: ({ query, texts }, { url, model, key }) => ({
      url: joined(url, 'rerank'),
      headers: bearer(key),
      body: { model, query, documents: [...texts], top_n: texts.length },
    }),
    read(answer) {
      const results = arrayIn(answer, 'results').filter(isJsonObject);
      const scored = results.map((result, at) => {
        const score = result['relevance_score'];
        return { index: result['index'], score: typeof score === 'number' ? score : -at };
      });
      return results.length === 0
        ? undefined
        : scored.sort((one, other) => other.score - one.score).map(({ index }) => index);
    },
  },
};

/** Texts are numbered from 1 in a prompt. */
function placesIn(text: unknown): readonly unknown[] | undefined {
  return typeof text === 'string' ? numbersIn(text)?.map((number) => number - 1) : undefined;
}

function arrayIn(value: unknown, member: string): readonly unknown[] {
  const found = isJsonObject(value) ? value[member] : undefined;
  return Array.isArray(found) ? found : [];
}

function bearer(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

function joined(base: string, path: string): string {
  return `${base.replace(/\/+$/, '')}/${path}`;
}
