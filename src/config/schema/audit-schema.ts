import { z } from 'zod';

import { wholeNumber } from './schema-parts.ts';

/** `audit`: the record of all operations. */
export const auditSchema = z
  .strictObject({
    enabled: z.boolean().prefault(true).describe('Whether every operation is recorded.'),
    keepDays: wholeNumber(1, 3650).prefault(90).describe('Number of days after which a record is deleted.'),
    maxBytes: wholeNumber(1024 * 1024, 2 ** 40)
      .prefault(256 * 1024 * 1024)
      .describe('Approximate size limit of all records in bytes; the oldest ones are deleted first.'),
    arguments: z
      .boolean()
      .prefault(false)
      .describe('Whether arguments are recorded, redacted and truncated; otherwise, only their digest is recorded.'),
    results: z.boolean().prefault(false).describe('Whether results are recorded, redacted and truncated.'),
    chain: z
      .boolean()
      .prefault(false)
      .describe(
        'Whether each record has a hash over itself and the previous record, for `trunkline audit verify`.',
      ),
  })
  .prefault({})
  .describe('The record of all operations, stored in the database.');
