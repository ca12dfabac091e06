import { z } from 'zod';

import { duration, wholeNumber } from './schema-parts.ts';

/** `code`: limits of the scripts of `run_code`. */
export const codeSchema = z
  .strictObject({
    timeout: duration(1)
      .prefault('2m')
      .describe(
        'Time limit of a script, including its calls; the time in which a person answers a question does not count.',
      ),
    cpu: duration(1).prefault('10s').describe('CPU time limit of a script.'),
    memoryMb: wholeNumber(20, 1024).prefault(64).describe('Memory limit of a script in megabytes.'),
    maxCalls: wholeNumber(0, 100_000).prefault(200).describe('Maximum number of calls per script.'),
    maxOutput: wholeNumber(100, 100_000_000)
      .prefault(200_000)
      .describe("Maximum length of a script's result in characters; its log has the same limit."),
    maxScripts: wholeNumber(1, 100)
      .prefault(4)
      .describe('Number of scripts that run at the same time; others wait in a queue.'),
  })
  .prefault({})
  .describe('Limits of the scripts that `run_code` runs when `expose.kind` is `code`.');
