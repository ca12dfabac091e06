import { z } from 'zod';

import { parseReferences, referenceProblem } from '../references.ts';
import { duration, text, whole } from './schema-parts.ts';

/** `storage`: where everything is kept that must survive. */
export const storageSchema = z
  .strictObject({
    url: text
      .superRefine((value, context) => {
        const message = referenceProblem(value) ?? addressProblem(value);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe(
        'A PostgreSQL database that several gateways share, as `postgres://user@host/name` or a reference such as `${env:PGURL}`. Without it, a file in the state folder of this machine.',
      ),
    key: text
      .superRefine((value, context) => {
        const message = referenceProblem(value) ?? keyProblem(value);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe(
        'The secret that all gateways on one database share, as a reference such as `${env:TRUNKLINE_KEY}` or `${file:/run/secrets/trunkline-key}`. It encrypts sign-ins, sessions and what gateways say to each other. Without it, the key in `secret.key` of the state folder.',
      ),
    poolSize: whole(1, 200)
      .prefault(10)
      .describe(
        'Connections to PostgreSQL that one gateway opens at most, besides the few that it needs always.',
      ),
    connectTimeout: duration(1)
      .prefault('5s')
      .describe('How long PostgreSQL may take to accept a connection.'),
    statementTimeout: duration(1).prefault('15s').describe('How long one statement may take in PostgreSQL.'),
  })
  .prefault({})
  .describe('The database.');

/** What is a reference alone is looked at when it is revealed. */
function addressProblem(value: string): string | undefined {
  const [first] = parseReferences(value);
  if (typeof first !== 'string' || isPostgresUrl(value)) return undefined;
  return 'must be an address that begins with postgres:// or postgresql://';
}

/** A key that stands in the file is none. */
function keyProblem(value: string): string | undefined {
  const parts = parseReferences(value);
  if (parts.length === 1 && typeof parts[0] !== 'string') return undefined;
  return 'must be a reference and nothing else, such as "${env:TRUNKLINE_KEY}" or "${file:trunkline.key}"';
}

function isPostgresUrl(value: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(value);
}
