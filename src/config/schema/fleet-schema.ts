import { z } from 'zod';

import { text } from './schema-parts.ts';

const HOST_AND_PORT = /^(?:\[[\da-fA-F:.%]+\]|[^\s:/[\]]+):\d{1,5}$/;
const hint = 'must be a host and a port, such as "10.0.0.5:7333" or "[::1]:0"';
const hostAndPort = text
  .regex(HOST_AND_PORT, { error: hint, abort: true })
  .refine((value) => Number(value.slice(value.lastIndexOf(':') + 1)) < 2 ** 16, { error: hint });

/** `share` of a server. */
export const shareSchema = z
  .enum(['all', 'session', 'fleet'])
  .prefault('all')
  .describe(
    '`all`: one connection serves every client. `session`: each client session has its own. `fleet`: of all gateways on one database, one runs it for all; elsewhere the same as `all`.',
  );

/** `fleet`: how gateways on one database reach each other. */
export const fleetSchema = z
  .strictObject({
    listen: hostAndPort
      .optional()
      .describe(
        'Host and port where other gateways on the same database reach this one, encrypted with the key that they share. Without it: any free port at the host of `serve --http`.',
      ),
    address: hostAndPort
      .optional()
      .describe(
        'The same as others have to write it, where it is not what `listen` says, as behind NAT. Port 0 means the one that is listened on.',
      ),
  })
  .prefault({})
  .describe('The line between gateways that share a database.');
