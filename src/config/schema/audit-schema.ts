import { z } from 'zod';

import { whole } from './schema-parts.ts';

/** `audit`: the record of what was done. */
export const auditSchema = z
  .strictObject({
    enabled: z.boolean().prefault(true).describe('Whether every operation is recorded.'),
    keepDays: whole(1, 3650).prefault(90).describe('Days after which a record is removed.'),
    maxBytes: whole(1024 * 1024, 2 ** 40)
      .prefault(256 * 1024 * 1024)
      .describe('About how many bytes all records may take; beyond that the oldest are removed.'),
    arguments: z
      .boolean()
      .prefault(false)
      .describe('Whether arguments are recorded, redacted and cut; otherwise only a digest of them is.'),
    results: z.boolean().prefault(false).describe('Whether results are recorded, redacted and cut.'),
    chain: z
      .boolean()
      .prefault(false)
      .describe(
        'Whether each record has a hash over itself and the one before, for `trunkline audit verify`.',
      ),
  })
  .prefault({})
  .describe('The record of every operation, in the database.');
