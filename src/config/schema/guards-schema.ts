import { z } from 'zod';

import { findPatternProblem } from '../../core/lib/bounded-pattern-search.ts';
import { nonEmptyString } from './schema-parts.ts';

const nonEmptyList = z.array(nonEmptyString).min(1);

const searchPattern = nonEmptyString
  .superRefine((source, context) => {
    const problem = findPatternProblem(source);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  })
  .meta({ title: 'regular expression' });

const action = z.enum(['off', 'report', 'mask', 'block']).meta({ title: 'action' });

/** `redact`: secrets in arguments and results. */
export const redactSchema = z
  .strictObject({
    arguments: action
      .prefault('report')
      .describe(
        'Secrets in arguments that are sent to a server: `report` logs the kind of secret and the tool, `mask` replaces the secret, `block` rejects the call, `off` disables the search.',
      ),
    results: action
      .prefault('off')
      .describe('Secrets in results that are sent to a client; same values as `arguments`.'),
    entropy: z
      .boolean()
      .prefault(false)
      .describe(
        'Whether long random-looking words count as secrets; finds more secrets, but also many false positives.',
      ),
    patterns: z
      .record(nonEmptyString, searchPattern)
      .prefault({})
      .describe('Regular expressions for additional secrets. The key is a name, which replaces the secret.'),
  })
  .prefault({})
  .describe('How secrets in arguments and results are handled. Well-known key formats are detected.');

/** `redact` of one server. */
export const serverRedactSchema = z
  .strictObject({
    arguments: action.optional().describe('Overrides the top-level `redact.arguments` for this server.'),
    results: action.optional().describe('Overrides the top-level `redact.results` for this server.'),
  })
  .prefault({})
  .describe('How secrets in calls of this server are handled.');

const argumentRule = z.strictObject({
  id: nonEmptyString.describe('Name of the rule in messages and records.'),
  servers: nonEmptyList.optional().describe('Globs over server names.'),
  tools: nonEmptyList.optional().describe("Globs over the server's own tool names."),
  arguments: nonEmptyList
    .optional()
    .describe('Globs over argument names, such as `path` or `options.path`; without it, all arguments.'),
  pattern: searchPattern.describe(
    'Regular expression, case-insensitive. A call with an argument that contains a match is rejected.',
  ),
  message: nonEmptyString.optional().describe('Shown to the model whose call is rejected.'),
});

/** `argumentRules`: calls that are rejected because of their arguments. */
export const argumentRulesSchema = z
  .union([z.literal(false), z.array(argumentRule)], {
    error: 'must be a list of rules, or false for no rules',
  })
  .prefault([])
  .meta({
    description:
      'Arguments that are rejected. An empty list means the built-in rules (see guards.md), `false` means no rules.',
  });

/** `guards`: user-defined modules around every call. */
export const guardsSchema = z
  .array(nonEmptyString)
  .prefault([])
  .describe('ES modules with your own guards, relative to this file, outermost first; see guards.md.');

/** `tools.describe` of one server. */
export const describeSchema = z
  .record(
    nonEmptyString,
    z.union(
      [
        nonEmptyString,
        z.strictObject({ replace: nonEmptyString.describe('Replaces the description.') }),
      ],
      { error: 'must be a string, or { "replace": "a string" }' },
    ),
  )
  .prefault({})
  .describe(
    "Tool descriptions by glob; the first match applies. A string is appended to the server's description, `{ \"replace\": … }` replaces it.",
  );
