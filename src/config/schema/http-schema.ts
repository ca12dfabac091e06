import { z } from 'zod';

import { publicUrl } from './callers-schema.ts';
import { duration, texts, whole } from './schema-parts.ts';

const addressHint = 'must be a host and a port such as "127.0.0.1:7332" or "[::1]:7332"';
const address = z
  .string()
  .regex(/^(?:\[[0-9A-Fa-f:.]+\]|[^\s:/[\]]+):\d{1,5}$/, { error: addressHint })
  .refine((value) => Number(value.slice(value.lastIndexOf(':') + 1)) < 2 ** 16, { error: addressHint });

/** `http`: how clients reach the gateway over the network. */
export const httpSchema = z
  .strictObject({
    address: address.prefault('127.0.0.1:7332').describe('Where `serve --http` listens.'),
    publicUrl: publicUrl
      .optional()
      .describe('Where clients find the gateway if that is elsewhere, such as `https://mcp.example.com`.'),
    allowedHosts: texts
      .prefault([])
      .describe('`Host` headers that are accepted besides those of the loopback interface.'),
    allowedOrigins: texts
      .prefault([])
      .describe('`Origin` headers of web pages that may connect, such as `https://app.example.com`.'),
    maxSessions: whole(1, 1_000_000)
      .prefault(1000)
      .describe(
        'Sessions that are served at the same time; the longest idle one makes room, and goes on when its client comes back.',
      ),
    sessionIdle: duration(1)
      .prefault('30m')
      .describe(
        'After this time without a request a session is let go of; it goes on when its client comes back.',
      ),
    maxBodyBytes: whole(1024, 2 ** 30)
      .prefault(16 * 1024 * 1024)
      .describe('Largest request body that is read, in bytes.'),
    drain: duration(0)
      .prefault('0s')
      .describe(
        'How long the gateway goes on as before after it was told to stop, while `/readyz` already answers 503, so that a load balancer turns to others first.',
      ),
  })
  .prefault({})
  .describe('The HTTP side of the gateway.');
