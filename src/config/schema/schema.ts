import { z } from 'zod';

import { auditSchema } from './audit-schema.ts';
import { authSchema } from './auth-schema.ts';
import { callersSchema } from './callers-schema.ts';
import { cliSchema } from './cli-schema.ts';
import { codeSchema } from './code-schema.ts';
import { maxDurationMs } from '../duration.ts';
import { fleetSchema, shareSchema } from './fleet-schema.ts';
import {
  argumentRulesSchema,
  describeSchema,
  guardsSchema,
  redactSchema,
  serverRedactSchema,
} from './guards-schema.ts';
import { httpSchema } from './http-schema.ts';
import { limitsSchema, serverLimitsSchema } from './limits-schema.ts';
import { managementSchema, readOnlySchema } from './management-schema.ts';
import { policySchema, profilesSchema } from './policy-schema.ts';
import { resultsSchema } from './results-schema.ts';
import { duration, text, texts, whole } from './schema-parts.ts';
import { searchSchema } from './search-schema.ts';
import { storageSchema } from './storage-schema.ts';
import { metricsSchema, telemetrySchema } from './telemetry-schema.ts';

const idle = z
  .union([z.enum(['adaptive', 'never']), duration(0)], {
    error: 'must be "adaptive", "never" or a duration such as "5m"',
  })
  .meta({ title: '"adaptive", "never" or duration' });

const environmentName = z.string().regex(/^[^=\u0000]+$/, {
  error: 'is not a name that an environment variable can have',
});
const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, {
  error: 'is not a name that an HTTP header can have',
});
/** One entry of `mcpServers`. Which keys go together is checked where the entry becomes an upstream. */
export const serverSchema = z
  .strictObject({
    command: text
      .optional()
      .describe('Program to start; the server speaks MCP on its standard input and output.'),
    args: z.array(z.string()).optional().describe('Arguments of the program.'),
    env: z
      .record(environmentName, z.string())
      .optional()
      .describe('Environment variables of the program, besides the few that every program inherits.'),
    envFile: text
      .optional()
      .describe('File with `KEY=VALUE` lines, relative to this file; `env` wins over it.'),
    cwd: text
      .optional()
      .describe(
        'Working directory of the program, relative to this file. Without it, the folder of this file; with `serve --standalone` and `serve --http`, the folder in which Trunkline was started.',
      ),
    cli: cliSchema.optional(),
    url: text.optional().describe('Address of a server that is reached over HTTP.'),
    headers: z.record(headerName, z.string()).optional().describe('HTTP headers sent with every request.'),
    auth: authSchema.optional(),
    type: z
      .enum(['stdio', 'http', 'streamable-http', 'streamableHttp', 'sse'])
      .optional()
      .describe(
        'Transport. Without it: `command` means `stdio`, and `url` tries Streamable HTTP first, then the older HTTP+SSE.',
      ),
    enabled: z
      .boolean()
      .optional()
      .meta({ description: '`false` keeps the entry but does not use it.', default: true }),
    description: z.string().optional().describe('What the server is for, in your words.'),
    registry: text.optional().describe('Its name in the MCP registry, for `trunkline registry update`.'),
    tags: texts.prefault([]).describe('Words to select servers by.'),
    share: shareSchema,
    trust: z
      .enum(['first-sight', 'manual', 'scan'])
      .prefault('first-sight')
      .describe(
        'Who approves what the server offers: `first-sight` takes what it offers first, `scan` does unless something in it looks wrong, `manual` waits for a person.',
      ),
    era: z
      .enum(['auto', 'legacy', 'modern'])
      .prefault('auto')
      .describe('Generation of the protocol that the server speaks; `auto` finds out and remembers.'),
    idle: idle.optional().describe('Like `idle` at the top, for this server.'),
    timeouts: z
      .strictObject({
        connect: duration(1).optional().describe('Like `timeouts.connect` at the top, for this server.'),
        call: duration(1).optional().describe('Like `timeouts.call` at the top, for this server.'),
      })
      .prefault({})
      .describe('How long to wait for this server.'),
    limits: serverLimitsSchema,
    tools: z
      .strictObject({
        allow: texts.prefault(['*']).describe('Globs; only tools with a matching name are offered.'),
        deny: texts
          .prefault([])
          .describe('Globs; tools with a matching name are not offered, allowed or not.'),
        tiers: z
          .record(text, z.enum(['read', 'write', 'destructive']))
          .prefault({})
          .describe(
            'What calling tools can do, by globs; the first that matches wins over what the server says and what names suggest.',
          ),
        describe: describeSchema,
      })
      .prefault({})
      .describe("Which of the server's tools are offered, by the server's own names for them."),
    redact: serverRedactSchema,
    argumentRules: z
      .boolean()
      .prefault(true)
      .describe('Whether `argumentRules` at the top hold for this server.'),
    disabled: z.boolean().optional().describe('As other clients write it: the opposite of `enabled`.'),
    timeout: z
      .number()
      .positive()
      .max(maxDurationMs)
      .optional()
      .describe(
        'As other clients write it: `timeouts.call` in milliseconds. Below 1000 it is reported and not obeyed, since some clients count in seconds.',
      ),
    serverUrl: text.optional().describe('As other clients write it: the same as `url`.'),
    authorizationToken: text
      .optional()
      .describe(
        'As other clients write it: sent as `Authorization: Bearer …`, unless `headers` has an `Authorization`.',
      ),
    autoApprove: z
      .union([z.boolean(), z.array(z.string())], { error: 'must be a list of tool names' })
      .optional()
      .describe('As other clients write it: kept, not obeyed.'),
    alwaysAllow: z
      .union([z.boolean(), z.array(z.string())], { error: 'must be a list of tool names' })
      .optional()
      .describe('As other clients write it: kept, not obeyed.'),
  })
  .meta({
    description: 'One MCP server: either a program to start (`command`) or an address (`url`).',
    oneOf: [{ required: ['command'] }, { required: ['url'] }, { required: ['serverUrl'] }],
  });

/** The whole file. Defaults and descriptions of all settings are here and nowhere else. */
export const fileSchema = z
  .strictObject({
    $schema: z.string().optional().describe('Address of a JSON Schema, for editors.'),
    mcpServers: z
      .record(z.string().min(1).max(128), serverSchema)
      .prefault({})
      .describe('The MCP servers behind the gateway, by name, as every MCP client writes them. A name is any text of up to 128 characters, spaces among them; in the names of its tools, whatever is no letter, digit, `_` or `-` becomes `_`.'),
    names: z
      .strictObject({
        separator: z
          .string()
          .regex(/^[A-Za-z0-9_.-]{1,8}$/, {
            error: 'must be 1 to 8 letters, digits, underscores, dots or hyphens',
          })
          .prefault('__')
          .describe('Stands between the name of the server and the name of its tool.'),
      })
      .prefault({})
      .describe('How clients see the names of tools and prompts.'),
    expose: z
      .strictObject({
        kind: z
          .enum(['auto', 'direct', 'search', 'code'])
          .prefault('auto')
          .describe(
            '`direct`: every tool is listed. `search`: a few tools that find and call all others. `code`: tools that find all others and one that runs scripts which call them. `auto`: `direct` while the tools cost less than `directBudget`, else `search`.',
          ),
        directBudget: whole(0, 10_000_000)
          .prefault(4000)
          .describe('Estimated tokens that the definitions of all tools may cost for `auto` to list them.'),
        shape: z
          .boolean()
          .prefault(true)
          .describe(
            'Whether known clients get shorter names, simpler schemas or a search where they would refuse tools otherwise; see clients.md. Others always get everything as it is.',
          ),
        pin: texts
          .prefault([])
          .describe('Globs on the names that clients see; in `search`, matching tools are listed as well.'),
        callTools: z
          .enum(['tiers', 'single'])
          .prefault('tiers')
          .describe(
            'In `search`: `tiers` has one tool each to call what reads, writes or destroys, so that a client can ask before some of them; `single` has one for all.',
          ),
        reveal: z
          .boolean()
          .prefault(false)
          .describe(
            'In `search`: what a search found is listed from then on, for that session only. Clients of the 2026-07-28 protocol have no sessions.',
          ),
      })
      .prefault({})
      .describe('How the tools of all servers are presented to clients.'),
    http: httpSchema,
    startup: z
      .strictObject({
        listWait: duration(0)
          .prefault('950ms')
          .describe(
            'Without a cached catalog, how long after the start the first listing waits for servers to answer. Whoever asks first is given at least half of it, and all of it while no server has answered; in its last quarter the last few of many servers are no longer waited for when no other comes.',
          ),
        refresh: duration(1)
          .prefault('30s')
          .describe('How long one server may take to answer the refresh after the start.'),
      })
      .prefault({})
      .describe('What happens in the first moments.'),
    timeouts: z
      .strictObject({
        connect: duration(1).prefault('30s').describe('Until a server must have started or answered.'),
        call: duration(1).prefault('120s').describe('Until a call must be answered; progress extends it.'),
        max: duration(1).prefault('1h').describe('Hard bound on one request, whatever progress it makes.'),
      })
      .prefault({})
      .describe('How long to wait; `connect` and `call` can differ per server.'),
    idleExit: duration(0)
      .prefault('15m')
      .describe('How long the gateway in the background stays when no client is connected to it.'),
    shutdown: duration(0).prefault('5s').describe('How long running calls may take to finish on shutdown.'),
    idle: idle
      .prefault('adaptive')
      .describe(
        'When a server that nobody calls is stopped; the next call starts it again. `adaptive`: after 1 to 5 minutes, by how much it is used.',
      ),
    limits: limitsSchema,
    redact: redactSchema,
    argumentRules: argumentRulesSchema,
    guards: guardsSchema,
    results: resultsSchema,
    search: searchSchema,
    code: codeSchema,
    profiles: profilesSchema,
    policy: policySchema,
    auth: callersSchema,
    storage: storageSchema,
    fleet: fleetSchema,
    audit: auditSchema,
    telemetry: telemetrySchema,
    metrics: metricsSchema,
    management: managementSchema,
    readOnly: readOnlySchema,
    log: z
      .strictObject({
        level: z
          .enum(['debug', 'info', 'warn', 'error'])
          .prefault('info')
          .describe('Least important kind of message that is written.'),
      })
      .prefault({})
      .describe('What is written to standard error.'),
  })
  .meta({
    title: 'Trunkline configuration',
    allowComments: true,
    allowTrailingCommas: true,
  });

export type ServerEntry = z.output<typeof serverSchema>;
export type ConfigFile = z.output<typeof fileSchema>;

/** The file's JSON Schema, for editors and for the documentation. */
export function jsonSchema(): object {
  return z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-2020-12' });
}
