import { z } from 'zod';

import { findReferenceProblem, HTTP_URL_HINT, isHttpUrl } from '../resolve-references.ts';
import { duration, nonEmptyString, wholeNumber } from './schema-parts.ts';

const reference = nonEmptyString.superRefine((value, context) => {
  const problem = findReferenceProblem(value);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const rerank = z.strictObject({
  kind: z
    .enum(['openai', 'gemini', 'rerank'])
    .prefault('openai')
    .describe(
      'API of the endpoint: `openai` is chat completions, `gemini` is generateContent, `rerank` is the rerank API of Cohere, Jina, vLLM and llama.cpp.',
    ),
  url: nonEmptyString
    .refine((value) => isHttpUrl(value), { error: HTTP_URL_HINT })
    .describe(
      'Base URL without the path of the API, such as `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`.',
    ),
  model: nonEmptyString.describe('Name of the model.'),
  apiKey: reference.optional().describe('API key, as a reference such as `${env:OPENAI_API_KEY}`.'),
  timeout: duration(1)
    .prefault('2s')
    .describe('A search waits this time for the model. If the model has not answered by then, the results keep their order.'),
  top: wholeNumber(2, 50).prefault(20).describe('Number of best tools that the model reorders.'),
  body: z
    .record(z.string(), z.json())
    .prefault({})
    .describe('Additional members of the request, such as `{"temperature": 0}` for models that support it.'),
});

/** `search`: how tools are found. */
export const searchSchema = z
  .strictObject({
    usage: z
      .boolean()
      .prefault(true)
      .describe(
        'Whether tools that a caller used recently rank first among equally good ones. The usage is kept in memory only.',
      ),
    rerank: rerank
      .optional()
      .describe(
        'A model that reorders the best tools of each search. It receives the query and the names and descriptions of these tools. If it does not answer in time, the order stays as it is.',
      ),
  })
  .prefault({})
  .describe('How `search_tools` finds tools.');
