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
        'In `search` and `code`: a result with more estimated tokens is stored, and the model gets its beginning; `read_result` reads the rest. 0 passes on every result in full.',
      ),
    compact: z
      .boolean()
      .prefault(true)
      .describe(
        'In `search` and `code`: whether the JSON text of a result of more than about 250 tokens is written without spaces, and a list of flat objects as a table. `structuredContent` is never changed.',
      ),
    keepFor: duration(1000).prefault('30m').describe('How long a result is stored after it was last read.'),
    maxBytes: wholeNumber(1024 * 1024, 2 ** 32)
      .prefault(64 * 1024 * 1024)
      .describe(
        'Maximum size of all stored results in bytes, in memory or in the database of `storage.url`. Beyond it, the caller with the largest share loses the results that were not read for the longest time.',
      ),
  })
  .prefault({})
  .describe('Results that are too large for the context of a model.');
