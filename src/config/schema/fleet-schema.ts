import { z } from 'zod';

import { nonEmptyString } from './schema-parts.ts';

const HOST_AND_PORT = /^(?:\[[\da-fA-F:.%]+\]|[^\s:/[\]]+):\d{1,5}$/;
const hint = 'must be a host and a port, such as "10.0.0.5:7333" or "[::1]:0"';
const hostAndPort = nonEmptyString
  .regex(HOST_AND_PORT, { error: hint, abort: true })
  .refine((value) => Number(value.slice(value.lastIndexOf(':') + 1)) < 2 ** 16, { error: hint });

/** `share` of a server. */
export const shareSchema = z
  .enum(['all', 'session', 'fleet'])
  .prefault('all')
  .describe(
    '`all`: one connection serves every client. `session`: each client session has its own connection. `fleet`: one of the gateways on a shared database runs the server for all of them; without a shared database, it means the same as `all`.',
  );

/** `fleet`: how gateways on one database reach each other. */
export const fleetSchema = z
  .strictObject({
    listen: hostAndPort
      .optional()
      .describe(
        'Host and port where this gateway accepts connections of the other gateways on the same database. The traffic is encrypted with their shared key. Default: any free port on the host of `serve --http`.',
      ),
    address: hostAndPort
      .optional()
      .describe(
        'Host and port that other gateways connect to, if it differs from `listen`, for example behind NAT. Port 0 means the port of `listen`.',
      ),
  })
  .prefault({})
  .describe('Connections between gateways that share a database.');
