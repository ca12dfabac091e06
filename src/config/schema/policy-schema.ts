import { z } from 'zod';

import { duration, nonEmptyString } from './schema-parts.ts';

const nonEmptyList = z.array(nonEmptyString).min(1);
const tier = z.enum(['read', 'write', 'destructive']).meta({ title: 'tier' });

/** The entries that a rule or a profile selects. */
const selection = {
  servers: nonEmptyList.optional().describe('Globs over server names.'),
  tags: nonEmptyList.optional().describe('Servers with one of these tags, in addition to those of `servers`.'),
  names: nonEmptyList
    .optional()
    .describe('Globs over entry names, as clients see them or as the server calls them.'),
  kinds: z
    .array(z.enum(['tool', 'prompt', 'resource']).meta({ title: 'kind' }))
    .min(1)
    .optional()
    .describe('Any of `tool`, `prompt` and `resource`.'),
  tiers: z
    .array(tier)
    .min(1)
    .optional()
    .describe(
      'Any of `read`, `write` and `destructive`: the effect that a tool can have; prompts and resources are `read`.',
    ),
};

const rule = z.strictObject({
  id: nonEmptyString.describe('Name of the rule in messages and records.'),
  effect: z
    .enum(['allow', 'deny', 'ask'])
    .describe('`deny` takes precedence over `ask`, and `ask` over `allow`; the order of rules has no meaning.'),
  callers: nonEmptyList.optional().describe('Globs over caller ids.'),
  groups: nonEmptyList.optional().describe("Globs over callers' groups."),
  roles: nonEmptyList.optional().describe("Globs over callers' roles."),
  profiles: nonEmptyList.optional().describe("Globs over callers' profiles."),
  ...selection,
  message: nonEmptyString
    .optional()
    .describe('Shown to the person or model whose call the rule decides.'),
});

/** `policy`: who may see and call what. */
export const policySchema = z
  .strictObject({
    default: z
      .enum(['allow', 'deny'])
      .prefault('allow')
      .describe('Effect for entries that no rule matches.'),
    rules: z
      .array(rule)
      .prefault([])
      .describe('Each rule selects callers and entries and has an effect. A condition that is absent always holds.'),
    askWait: duration(1)
      .prefault('2m')
      .describe('A call with the effect `ask` is rejected if it gets no answer within this time.'),
    askBy: z
      .array(z.enum(['person', 'client']).meta({ title: 'approver' }))
      .min(1)
      .prefault(['person'])
      .describe(
        'Who answers: `person` answers with `trunkline approve`; `client` is the user of the calling client, if that client supports questions.',
      ),
  })
  .prefault({})
  .describe('Who may see and call what; the same decision hides an entry and rejects its call.');

/** `profiles`: named selections. */
export const profilesSchema = z
  .record(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, {
      error: 'must be 1 to 64 letters, digits, underscores, dots or hyphens',
    }),
    z.strictObject({
      description: nonEmptyString.optional().describe('Your own description of the profile.'),
      ...selection,
      expose: z
        .enum(['auto', 'direct', 'search', 'code'])
        .optional()
        .describe('Overrides `expose.kind` for this profile.'),
    }),
  )
  .prefault({})
  .describe(
    'Named selections of servers and entries, used with `/mcp/p/NAME`, a key, or `serve --profile`. `default` applies to all other callers.',
  );
