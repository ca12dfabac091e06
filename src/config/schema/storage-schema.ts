import { z } from 'zod';

import { findReferenceProblem, parseReferences } from '../resolve-references.ts';
import { duration, nonEmptyString, wholeNumber } from './schema-parts.ts';

/** `storage`: the database. */
export const storageSchema = z
  .strictObject({
    url: nonEmptyString
      .superRefine((value, context) => {
        const message = findReferenceProblem(value) ?? findUrlProblem(value);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe(
        'URL of a PostgreSQL database that several gateways share, as `postgres://user@host/name` or a reference such as `${env:PGURL}`. Default: a file in the state folder of this machine.',
      ),
    key: nonEmptyString
      .superRefine((value, context) => {
        const message = findReferenceProblem(value) ?? findKeyProblem(value);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe(
        'Secret that all gateways on one database share, as a reference such as `${env:TRUNKLINE_KEY}` or `${file:/run/secrets/trunkline-key}`. It must be 32 or more random bytes, such as `openssl rand -base64 32` prints. It encrypts sign-ins, sessions and the traffic between gateways. Default: the key in `secret.key` of the state folder.',
      ),
    poolSize: wholeNumber(1, 200)
      .prefault(10)
      .describe(
        'Maximum number of PostgreSQL connections of one gateway, in addition to the few that it always keeps open.',
      ),
    connectTimeout: duration(1)
      .prefault('5s')
      .describe('Time limit for connecting to PostgreSQL.'),
    statementTimeout: duration(1).prefault('15s').describe('Time limit of a PostgreSQL statement.'),
  })
  .prefault({})
  .describe('The database.');

/** Checks the scheme of the URL. A URL that begins with a reference is checked after the reference is resolved. */
function findUrlProblem(value: string): string | undefined {
  const [first] = parseReferences(value);
  if (typeof first !== 'string' || /^postgres(?:ql)?:\/\//.test(value)) return undefined;
  return 'must be a URL that begins with postgres:// or postgresql://';
}

/** Rejects a key that is written into the file: it would not be secret. */
function findKeyProblem(value: string): string | undefined {
  const parts = parseReferences(value);
  if (parts.length === 1 && typeof parts[0] !== 'string') return undefined;
  return 'must be a single reference such as "${env:TRUNKLINE_KEY}" or "${file:trunkline.key}"';
}
