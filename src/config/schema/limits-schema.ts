import { z } from 'zod';

import { whole } from './schema-parts.ts';

/** `limits`: how much is given to servers and taken from callers. */
export const limitsSchema = z
  .strictObject({
    concurrency: whole(1, 100_000).prefault(64).describe('Calls that one server works on at the same time.'),
    waiting: whole(0, 1_000_000)
      .prefault(1024)
      .describe('Calls that wait for one server; further ones are refused.'),
    sessions: whole(1, 10_000)
      .prefault(10)
      .describe(
        'Processes that client sessions have of one server with `share: "session"`; the one that was idle longest makes room for the next.',
      ),
    rate: whole(0, 1_000_000)
      .prefault(0)
      .describe(
        'Calls per minute that one server gets; what is due within two seconds waits, at most `waiting` calls do, and further ones are refused. 0 is no bound.',
      ),
    callerRate: whole(0, 1_000_000)
      .prefault(0)
      .describe(
        'Calls per minute that one caller makes, over all servers; what is due soon waits, as with `rate`. 0 is no bound.',
      ),
    callerConcurrency: whole(0, 100_000)
      .prefault(0)
      .describe(
        'Calls that one caller has under way at the same time, over all servers; as many as `waiting` wait. 0 is no bound.',
      ),
    argumentBytes: whole(0, 2 ** 31)
      .prefault(0)
      .describe('Bytes that the arguments of one call may have. 0 is no bound of its own.'),
    resultBytes: whole(0, 2 ** 31)
      .prefault(0)
      .describe('Bytes that a result may have to be passed on. 0 is no bound of its own.'),
    scope: z
      .enum(['gateway', 'fleet'])
      .prefault('gateway')
      .describe(
        'Who counts `rate`, `concurrency` and the two of callers: each `gateway` for itself, or all gateways on one PostgreSQL database together (`fleet`); each then has a share of them that follows where calls come from.',
      ),
  })
  .prefault({})
  .describe('How much each server is given to do; can differ per server.');

/** `limits` of one server. */
export const serverLimitsSchema = z
  .strictObject({
    concurrency: whole(1, 100_000)
      .optional()
      .describe('Like `limits.concurrency` at the top, for this server.'),
    waiting: whole(0, 1_000_000).optional().describe('Like `limits.waiting` at the top, for this server.'),
    sessions: whole(1, 10_000).optional().describe('Like `limits.sessions` at the top, for this server.'),
    rate: whole(0, 1_000_000).optional().describe('Like `limits.rate` at the top, for this server.'),
    argumentBytes: whole(0, 2 ** 31)
      .optional()
      .describe('Like `limits.argumentBytes` at the top, for this server.'),
    resultBytes: whole(0, 2 ** 31)
      .optional()
      .describe('Like `limits.resultBytes` at the top, for this server.'),
    scope: z
      .enum(['gateway', 'fleet'])
      .optional()
      .describe('Like `limits.scope` at the top, for this server.'),
  })
  .prefault({})
  .describe('How much this server is given to do.');
