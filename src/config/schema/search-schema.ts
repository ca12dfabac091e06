import { z } from 'zod';

import { isHttpUrl, notHttpUrl, referenceProblem } from '../references.ts';
import { duration, text, whole } from './schema-parts.ts';

const reference = text.superRefine((value, context) => {
  const problem = referenceProblem(value);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const rerank = z.strictObject({
  kind: z
    .enum(['openai', 'gemini', 'rerank'])
    .prefault('openai')
    .describe(
      'What the endpoint speaks: `openai` is chat completions, `gemini` is generateContent, `rerank` is what Cohere, Jina, vLLM and llama.cpp call so.',
    ),
  url: text
    .refine((value) => isHttpUrl(value), { error: notHttpUrl })
    .describe(
      'Address without the path of the kind, such as `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`.',
    ),
  model: text.describe('Name of the model there.'),
  apiKey: reference.optional().describe('Key, as a reference such as `${env:OPENAI_API_KEY}`.'),
  timeout: duration(1)
    .prefault('2s')
    .describe('How long a search waits for it before it keeps its own order.'),
  top: whole(2, 50).prefault(20).describe('How many of the best tools it puts into order.'),
  body: z
    .record(z.string(), z.json())
    .prefault({})
    .describe('Further members of the request, such as `{"temperature": 0}` for models that take it.'),
});

/** `search`: how tools are found. */
export const searchSchema = z
  .strictObject({
    usage: z
      .boolean()
      .prefault(true)
      .describe(
        'Whether tools that a caller used lately come first among equally good ones. Kept in memory only.',
      ),
    rerank: rerank
      .optional()
      .describe(
        'A model that puts the best tools of each search into order. It gets the query and the names and descriptions of these tools. Without an answer in time the order stays as it was.',
      ),
  })
  .prefault({})
  .describe('How `search_tools` finds tools.');
