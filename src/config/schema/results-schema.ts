import { z } from 'zod';

import { duration, wholeNumber } from './schema-parts.ts';

/** `results`: results that exceed the context of a model. */
export const resultsSchema = z
  .strictObject({
    maxTokens: z
      .union([z.literal(0), wholeNumber(1_000, 10_000_000)], {
        error: 'must be 0 or a whole number from 1000',
      })
      .prefault(4_000)
      .meta({ title: 'whole number' })
      .describe(
        'In `search` and `code`: a result with more estimated tokens than this is stored, and the model gets its beginning; `read_result` reads the rest. With 0, every result is passed on in full.',
      ),
    compact: z
      .boolean()
      .prefault(true)
      .describe(
        'In `search` and `code`: whether JSON in the text of a result is shortened if it has more than about 250 tokens. Spaces are removed, and a list of flat objects becomes a table. `structuredContent` is never changed.',
      ),
    learnShapes: z
      .boolean()
      .prefault(true)
      .describe(
        'In `search` and `code`: whether the keys and types of results, without values, are remembered for tools without an output schema and shown by `describe_tools` to every caller who may use the tool.',
      ),
    keepFor: duration(1000).prefault('30m').describe('A result is deleted this time after it was last read.'),
    maxBytes: wholeNumber(1024 * 1024, 2 ** 32)
      .prefault(64 * 1024 * 1024)
      .describe(
        'Maximum size of all stored results in bytes, in memory or in the database of `storage.url`. When it is exceeded, the least recently read results of the caller with the largest share are deleted.',
      ),
  })
  .prefault({})
  .describe('Results that are too large for the context of a model.');
