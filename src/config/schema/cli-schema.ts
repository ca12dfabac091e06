import { z } from 'zod';

import { nonEmptyString, wholeNumber } from './schema-parts.ts';

/** Words that cannot be mistaken for options. */
const commandLine = z.string().regex(/^\s*[A-Za-z0-9][\w.:-]*(?:\s+[A-Za-z0-9][\w.:-]*)*\s*$/, {
  error: 'must be a subcommand such as "get" or "config view", without options',
});

const parameterSchema = z.strictObject({
  type: z
    .enum(['string', 'integer', 'number', 'boolean'])
    .prefault('string')
    .describe('Type of the value; `boolean` is a switch and needs `flag`.'),
  flag: z
    .string()
    .regex(/^--?[A-Za-z0-9][\w.-]*=?$/, {
      error: 'must be an option such as "--name", "-n" or, for values after "=", "--name="',
    })
    .optional()
    .describe(
      'Option that passes the value; if it ends with `=`, the value follows in the same argument. Without it, the value is a positional argument.',
    ),
  description: z.string().optional().describe('Description of the parameter.'),
  choices: z.array(nonEmptyString).min(1).optional().describe('The allowed values.'),
  required: z.boolean().prefault(false).describe('Whether every call must have the parameter.'),
  repeat: z.boolean().prefault(false).describe('Whether the parameter takes a list of values.'),
});

const presetSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, {
      error: 'must be 1 to 64 letters, digits, underscores, dots or hyphens',
    })
    .describe('Name of the tool.'),
  title: z.string().optional().describe('Display name of the tool.'),
  description: z.string().optional().describe('What the tool does.'),
  args: z
    .array(z.string())
    .prefault([])
    .describe(
      'Arguments of every call, after `args` of the server. If the last one is `--`, positional arguments may begin with a dash.',
    ),
  parameters: z
    .record(z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/), parameterSchema)
    .prefault({})
    .describe('Parameters by name; positional arguments are passed in this order.'),
});

const cliObject = z
  .strictObject({
    depth: wholeNumber(1, 6)
      .prefault(3)
      .describe(
        "Number of help levels that are read. 1: the program's own help, so that its subcommands become tools with plain arguments. 2: also the help of its subcommands, with their options.",
      ),
    only: z
      .array(commandLine)
      .prefault([])
      .describe(
        'Subcommands that are offered, such as `get` or `config view`, with everything below them. Empty means all.',
      ),
    help: nonEmptyString
      .optional()
      .describe(
        'Arguments that print the help, such as `-h` or `help {}`. The subcommand is inserted before them, or at `{}`. Default: `--help`, or a form that is known to work.',
      ),
    maxOutput: wholeNumber(1024, 64 * 1024 * 1024)
      .prefault(1024 * 1024)
      .describe(
        'Maximum size of the standard output in a result, in bytes; the rest is omitted, and its size is reported.',
      ),
    tools: z
      .array(presetSchema)
      .prefault([])
      .describe('Tools that are offered instead of those in the help; the help is not read then.'),
  })
  .describe('How the help is read, and which subcommands are offered.');

/** `cli` of a server: the program does not speak MCP; its subcommands become tools. */
export const cliSchema = z
  .union([z.literal(true), cliObject], {
    error: 'must be true, or an object with "depth", "only" and the like',
  })
  .describe(
    'The program does not speak MCP: the subcommands in its help become tools. `true`, or an object with settings; see cli-servers.md.',
  )
  .meta({ title: '`true` or object' });

type CliEntry = z.output<typeof cliSchema>;

/** Returns the settings of an entry; `true` means the defaults. */
export function readCliSettings(entry: CliEntry): z.output<typeof cliObject> {
  return entry === true ? cliObject.parse({}) : entry;
}
