import { z } from 'zod';

import { duration, text } from './schema-parts.ts';

const some = z.array(text).min(1);
const tier = z.enum(['read', 'write', 'destructive']).meta({ title: 'tier' });

/** Which entries are meant: as the file writes it, in rules and in profiles. */
const selection = {
  servers: some.optional().describe('Globs over names of servers.'),
  tags: some.optional().describe('Servers that carry one of these tags are meant as well.'),
  names: some
    .optional()
    .describe('Globs over the names of entries, as clients see them or as the server calls them.'),
  kinds: z
    .array(z.enum(['tool', 'prompt', 'resource']).meta({ title: 'kind' }))
    .min(1)
    .optional()
    .describe('Of `tool`, `prompt` and `resource`.'),
  tiers: z
    .array(tier)
    .min(1)
    .optional()
    .describe(
      'Of `read`, `write` and `destructive`: what calling a tool can do; prompts and resources are `read`.',
    ),
};

const rule = z.strictObject({
  id: text.describe('Shown wherever the rule decides.'),
  effect: z
    .enum(['allow', 'deny', 'ask'])
    .describe('`deny` wins over `ask`, `ask` over `allow`; the order of rules means nothing.'),
  callers: some.optional().describe('Globs over callers.'),
  groups: some.optional().describe("Globs over callers' groups."),
  roles: some.optional().describe("Globs over callers' roles."),
  profiles: some.optional().describe("Globs over callers' profiles."),
  ...selection,
  message: text.optional().describe('For the person or the model that meets the rule.'),
});

/** `policy`: who may see and call what. */
export const policySchema = z
  .strictObject({
    default: z
      .enum(['allow', 'deny'])
      .prefault('allow')
      .describe('What happens to an entry that no rule speaks of.'),
    rules: z
      .array(rule)
      .prefault([])
      .describe('Each says who and what, and what becomes of it. What a rule leaves out does not count.'),
    askWait: duration(1)
      .prefault('2m')
      .describe('How long a call that a rule asks about waits for a person; then it is refused.'),
    askBy: z
      .array(z.enum(['person', 'client']).meta({ title: 'asked' }))
      .min(1)
      .prefault(['person'])
      .describe(
        'Who is asked: `person` answers with `trunkline approve`, `client` is whoever sits behind the client that calls, where it can ask.',
      ),
  })
  .prefault({})
  .describe('Who may see and call what; the same decision hides an entry and refuses its call.');

/** `profiles`: named selections. */
export const profilesSchema = z
  .record(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, {
      error: 'must be 1 to 64 letters, digits, underscores, dots or hyphens',
    }),
    z.strictObject({
      description: text.optional().describe('What it is for, in your words.'),
      ...selection,
      expose: z
        .enum(['auto', 'direct', 'search', 'code'])
        .optional()
        .describe('Like `expose.kind`, for this profile.'),
    }),
  )
  .prefault({})
  .describe(
    'Named selections of servers and entries, reached as `/mcp/p/NAME`, by key, or with `serve --profile`. `default` is for everybody else.',
  );
