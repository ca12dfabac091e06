import { z } from 'zod';

import { publicUrlSchema } from './callers-schema.ts';
import { duration, nonEmptyStrings, wholeNumber } from './schema-parts.ts';

const addressHint = 'must be a host and a port such as "127.0.0.1:7332" or "[::1]:7332"';
const address = z
  .string()
  .regex(/^(?:\[[0-9A-Fa-f:.]+\]|[^\s:/[\]]+):\d{1,5}$/, { error: addressHint })
  .refine((value) => Number(value.slice(value.lastIndexOf(':') + 1)) < 2 ** 16, { error: addressHint });

/** `http`: how clients reach the gateway over the network. */
export const httpSchema = z
  .strictObject({
    address: address.prefault('127.0.0.1:7332').describe('Address that `serve --http` listens on.'),
    publicUrl: publicUrlSchema
      .optional()
      .describe(
        'URL that clients use if it differs from the address, for example `https://mcp.example.com` behind a reverse proxy.',
      ),
    allowedHosts: nonEmptyStrings
      .prefault([])
      .describe('`Host` headers that are accepted in addition to those of the loopback interface.'),
    allowedOrigins: nonEmptyStrings
      .prefault([])
      .describe('`Origin` headers of web pages that may connect, such as `https://app.example.com`.'),
    maxSessions: wholeNumber(1, 1_000_000)
      .prefault(1000)
      .describe(
        'Maximum number of sessions in memory. Beyond it, the session that was idle longest is unloaded; it resumes with the next request of its client.',
      ),
    sessionIdle: duration(1)
      .prefault('30m')
      .describe(
        'A session without a request for this time is unloaded; it resumes with the next request of its client.',
      ),
    maxBodyBytes: wholeNumber(1024, 2 ** 30)
      .prefault(16 * 1024 * 1024)
      .describe('Maximum size of a request body in bytes.'),
    drain: duration(0)
      .prefault('0s')
      .describe(
        'After a stop signal, requests are served for this time, while `/readyz` already returns 503. This lets a load balancer switch to other gateways.',
      ),
  })
  .prefault({})
  .describe('The HTTP endpoint of the gateway.');
