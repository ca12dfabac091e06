import { z } from 'zod';

import { wholeNumber } from './schema-parts.ts';

/** `limits`: load limits of servers and callers. */
export const limitsSchema = z
  .strictObject({
    concurrency: wholeNumber(1, 100_000)
      .prefault(64)
      .describe('Maximum number of calls that run on one server at the same time.'),
    waiting: wholeNumber(0, 1_000_000)
      .prefault(1024)
      .describe('Maximum number of calls in the queue of one server; further ones are rejected.'),
    sessions: wholeNumber(1, 10_000)
      .prefault(10)
      .describe(
        'Maximum number of processes of one server with `share: "session"`; the one that was idle longest is stopped for a new one.',
      ),
    rate: wholeNumber(0, 1_000_000)
      .prefault(0)
      .describe(
        'Maximum number of calls per minute to one server. A call that is due within two seconds waits; other calls, and those beyond `waiting` waiting calls, are rejected. 0 means unlimited.',
      ),
    callerRate: wholeNumber(0, 1_000_000)
      .prefault(0)
      .describe(
        'Maximum number of calls per minute of one caller over all servers; a call that is due soon waits, as with `rate`. 0 means unlimited.',
      ),
    callerConcurrency: wholeNumber(0, 100_000)
      .prefault(0)
      .describe(
        'Maximum number of concurrent calls of one caller over all servers; up to `waiting` further ones wait. 0 means unlimited.',
      ),
    argumentBytes: wholeNumber(0, 2 ** 31)
      .prefault(0)
      .describe('Maximum size of the arguments of one call in bytes. 0 means no separate limit.'),
    resultBytes: wholeNumber(0, 2 ** 31)
      .prefault(0)
      .describe('Maximum size of a result that is passed on, in bytes. 0 means no separate limit.'),
    scope: z
      .enum(['gateway', 'fleet'])
      .prefault('gateway')
      .describe(
        'What `rate`, `concurrency`, `callerRate` and `callerConcurrency` apply to: each `gateway` on its own, or all gateways on one PostgreSQL database together (`fleet`), which divide the limits according to where the calls arrive.',
      ),
  })
  .prefault({})
  .describe('Load limits of servers and callers; those of servers can be overridden per server.');

/** `limits` of one server. */
export const serverLimitsSchema = z
  .strictObject({
    concurrency: wholeNumber(1, 100_000)
      .optional()
      .describe('Overrides the top-level `limits.concurrency` for this server.'),
    waiting: wholeNumber(0, 1_000_000)
      .optional()
      .describe('Overrides the top-level `limits.waiting` for this server.'),
    sessions: wholeNumber(1, 10_000)
      .optional()
      .describe('Overrides the top-level `limits.sessions` for this server.'),
    rate: wholeNumber(0, 1_000_000)
      .optional()
      .describe('Overrides the top-level `limits.rate` for this server.'),
    argumentBytes: wholeNumber(0, 2 ** 31)
      .optional()
      .describe('Overrides the top-level `limits.argumentBytes` for this server.'),
    resultBytes: wholeNumber(0, 2 ** 31)
      .optional()
      .describe('Overrides the top-level `limits.resultBytes` for this server.'),
    scope: z
      .enum(['gateway', 'fleet'])
      .optional()
      .describe('Overrides the top-level `limits.scope` for this server.'),
  })
  .prefault({})
  .describe('Load limits of this server.');
