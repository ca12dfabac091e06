import { z } from 'zod';

import { duration, whole } from './schema-parts.ts';

/** `code`: what one script of `run_code` may use up. */
export const codeSchema = z
  .strictObject({
    timeout: duration(1)
      .prefault('2m')
      .describe(
        'How long a script may run, its calls included; time in which a person answers a question does not count.',
      ),
    cpu: duration(1).prefault('10s').describe('How long a script may compute by itself.'),
    memoryMb: whole(20, 1024).prefault(64).describe('Memory that a script may use, in megabytes.'),
    maxCalls: whole(0, 100_000).prefault(200).describe('Calls that one script may make.'),
    maxOutput: whole(100, 100_000_000)
      .prefault(200_000)
      .describe('Characters of the result of a script, and as many of what it logs.'),
    maxScripts: whole(1, 100)
      .prefault(4)
      .describe('Scripts that run at the same time; others wait for their turn.'),
  })
  .prefault({})
  .describe('Limits of the scripts that `run_code` runs, where `expose.kind` is `code`.');
