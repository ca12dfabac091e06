import { z } from 'zod';

import { text, whole } from './schema-parts.ts';

/** Words that cannot be taken for options. */
const commandLine = z.string().regex(/^\s*[A-Za-z0-9][\w.:-]*(?:\s+[A-Za-z0-9][\w.:-]*)*\s*$/, {
  error: 'must be a subcommand such as "get" or "config view", without options',
});

const parameterSchema = z.strictObject({
  type: z
    .enum(['string', 'integer', 'number', 'boolean'])
    .prefault('string')
    .describe('What its values are; `boolean` is a switch and needs `flag`.'),
  flag: z
    .string()
    .regex(/^--?[A-Za-z0-9][\w.-]*=?$/, {
      error: 'must be an option such as "--name", "-n" or "--name=" for values behind "="',
    })
    .optional()
    .describe(
      'Option that it becomes; with `=` at its end the value is written behind that. Without it, an argument.',
    ),
  description: z.string().optional().describe('What it is for.'),
  choices: z.array(text).min(1).optional().describe('The only values that are allowed.'),
  required: z.boolean().prefault(false).describe('Whether a call must have it.'),
  repeat: z.boolean().prefault(false).describe('Whether it takes a list.'),
});

const presetSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, {
      error: 'must be 1 to 64 letters, digits, underscores, dots or hyphens',
    })
    .describe('Name of the tool.'),
  title: z.string().optional().describe('The same for people.'),
  description: z.string().optional().describe('What the tool does.'),
  args: z
    .array(z.string())
    .prefault([])
    .describe(
      'Arguments that every call has, behind `args` of the server. With `--` at its end, arguments may begin with a dash.',
    ),
  parameters: z
    .record(z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/), parameterSchema)
    .prefault({})
    .describe('What a call can say, by name; arguments are written in this order.'),
});

const cliObject = z
  .strictObject({
    depth: whole(1, 6)
      .prefault(3)
      .describe(
        "How many levels of help are read. 1: the program's own, so that its subcommands are tools with plain arguments. 2: that of its subcommands, too, with their options.",
      ),
    only: z
      .array(commandLine)
      .prefault([])
      .describe(
        'Subcommands that are offered, such as `get` or `config view`, with everything below them. Empty for all.',
      ),
    help: text
      .optional()
      .describe(
        'How help is asked for, behind the subcommand or with it at `{}`, such as `-h` or `help {}`. Without it: `--help`, or what is known to work.',
      ),
    maxOutput: whole(1024, 64 * 1024 * 1024)
      .prefault(1024 * 1024)
      .describe('Bytes of standard output that a result has at most; the rest is left out and counted.'),
    tools: z
      .array(presetSchema)
      .prefault([])
      .describe('Tools that are offered instead of what the help says; the program is not asked.'),
  })
  .describe('How the help is read, and what is offered of it.');

/** `cli` of a server: the program does not speak MCP; its subcommands are tools. */
export const cliSchema = z
  .union([z.literal(true), cliObject], {
    error: 'must be true, or an object with "depth", "only" and the like',
  })
  .describe(
    'The program does not speak MCP: what its help lists becomes tools. `true`, or an object with how; see cli-servers.md.',
  )
  .meta({ title: '`true` or object' });

export type CliEntry = z.output<typeof cliSchema>;

/** What `true` stands for. */
export function cliSettings(entry: CliEntry): z.output<typeof cliObject> {
  return entry === true ? cliObject.parse({}) : entry;
}
