import { z } from 'zod';

import { searchProblem } from '../../lib/bounded-search.ts';
import { text } from './schema-parts.ts';

const some = z.array(text).min(1);

const searchPattern = text
  .superRefine((source, context) => {
    const problem = searchProblem(source);
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
        'Secrets in arguments, on their way to a server: `report` logs the kind and the tool, `mask` replaces them, `block` refuses the call, `off` does not look.',
      ),
    results: action.prefault('off').describe('Secrets in results, on their way to a client; as above.'),
    entropy: z
      .boolean()
      .prefault(false)
      .describe('Whether long random-looking words count as secrets; finds more, and much that is none.'),
    patterns: z
      .record(text, searchPattern)
      .prefault({})
      .describe('Further secrets, as regular expressions by a name that is shown in their place.'),
  })
  .prefault({})
  .describe('What becomes of secrets in arguments and results; well-known formats of keys are found.');

/** `redact` of one server. */
export const serverRedactSchema = z
  .strictObject({
    arguments: action.optional().describe('Like `redact.arguments` at the top, for this server.'),
    results: action.optional().describe('Like `redact.results` at the top, for this server.'),
  })
  .prefault({})
  .describe('What becomes of secrets in calls of this server.');

const argumentRule = z.strictObject({
  id: text.describe('Shown wherever the rule decides.'),
  servers: some.optional().describe('Globs over names of servers.'),
  tools: some.optional().describe("Globs over the server's own names of tools."),
  arguments: some
    .optional()
    .describe('Globs over names of arguments, such as `path` or `options.path`; without it, all of them.'),
  pattern: searchPattern.describe(
    'Regular expression that no matching argument may contain, in any case of letters.',
  ),
  message: text.optional().describe('For the model that meets the rule.'),
});

/** `argumentRules`: calls that are not made because of what they say. */
export const argumentRulesSchema = z
  .union([z.literal(false), z.array(argumentRule)], {
    error: 'must be a list of rules, or false for none at all',
  })
  .prefault([])
  .meta({
    description:
      'Arguments that are refused. An empty list means the built-in rules (see guards.md), `false` means none.',
  });

/** `guards`: own modules around every call. */
export const guardsSchema = z
  .array(text)
  .prefault([])
  .describe('ES modules with own guards, relative to this file, outermost first; see guards.md.');

/** `tools.describe` of one server. */
export const describeSchema = z
  .record(
    text,
    z.union([text, z.strictObject({ replace: text.describe('Stands instead of the description.') })], {
      error: 'must be a text, or { "replace": "a text" }',
    }),
  )
  .prefault({})
  .describe(
    'What clients read about tools, by globs; the first that matches counts. A text is put after the description of the server, `{ "replace": … }` instead of it.',
  );
