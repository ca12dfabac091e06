import { z } from 'zod';

import { duration, whole } from './schema-parts.ts';

/** `results`: what happens to results that are too big for a model. */
export const resultsSchema = z
  .strictObject({
    maxTokens: z
      .union([z.literal(0), whole(1_000, 10_000_000)], { error: 'must be 0 or a whole number from 1000' })
      .prefault(10_000)
      .meta({ title: 'whole number' })
      .describe(
        'In `search` and `code`: a result of more estimated tokens is kept and answered with its beginning; `read_result` reads the rest. 0 passes every result whole.',
      ),
    keepFor: duration(1000).prefault('30m').describe('How long a result is kept after it was last read.'),
    maxBytes: whole(1024 * 1024, 2 ** 32)
      .prefault(64 * 1024 * 1024)
      .describe(
        'Bytes of results that are kept at the same time, in memory or in the database of `storage.url`; beyond that, the caller with the most gives up what was not read for longest.',
      ),
  })
  .prefault({})
  .describe('Results that are too big for the context of a model.');
