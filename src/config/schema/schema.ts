import { z } from 'zod';

import { auditSchema } from './audit-schema.ts';
import { serverAuthSchema } from './server-auth-schema.ts';
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
import { duration, nonEmptyString, nonEmptyStrings, wholeNumber } from './schema-parts.ts';
import { searchSchema } from './search-schema.ts';
import { storageSchema } from './storage-schema.ts';
import { metricsSchema, telemetrySchema } from './telemetry-schema.ts';

const idle = z
  .union([z.enum(['adaptive', 'never']), duration(0)], {
    error: 'must be "adaptive", "never" or a duration such as "5m"',
  })
  .meta({ title: '"adaptive", "never" or duration' });

const environmentName = z.string().regex(/^[^=\u0000]+$/, {
  error: 'is not a valid name of an environment variable',
});
const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, {
  error: 'is not a valid HTTP header name',
});

/** One entry of `mcpServers`. `readUpstream` checks which keys can be combined. */
export const serverSchema = z
  .strictObject({
    command: nonEmptyString
      .optional()
      .describe('Program to start; the server speaks MCP on its standard input and output.'),
    args: z.array(z.string()).optional().describe('Arguments of the program.'),
    env: z
      .record(environmentName, z.string())
      .optional()
      .describe('Environment variables of the program, in addition to the few that every program inherits.'),
    envFile: nonEmptyString
      .optional()
      .describe('File with `KEY=VALUE` lines, relative to this file; `env` takes precedence.'),
    cwd: nonEmptyString
      .optional()
      .describe(
        'Working directory of the program, relative to this file. Default: the folder of this file; with `serve --standalone` and `serve --http`, the folder in which Trunkline was started.',
      ),
    cli: cliSchema.optional(),
    url: nonEmptyString.optional().describe('URL of a server that is reached over HTTP.'),
    headers: z.record(headerName, z.string()).optional().describe('HTTP headers sent with every request.'),
    headersHelper: z
      .union([nonEmptyString, z.array(z.string()).min(1)])
      .optional()
      .describe(
        'Command that prints further headers as a JSON object of strings. A list is a program with its arguments; a string is run by the shell, as in Claude Code. The command runs once, and again after the server answers 401 or 403. Its environment contains `CLAUDE_CODE_MCP_SERVER_NAME` and `CLAUDE_CODE_MCP_SERVER_URL`. It must finish within 10 seconds.',
      ),
    auth: serverAuthSchema.optional(),
    type: z
      .enum(['stdio', 'http', 'streamable-http', 'streamableHttp', 'sse'])
      .optional()
      .describe(
        'Transport. Default: `stdio` with `command`; with `url`, Streamable HTTP is tried first, then the older HTTP+SSE.',
      ),
    enabled: z
      .boolean()
      .optional()
      .meta({ description: 'Whether the server is used.', default: true }),
    description: z.string().optional().describe('Your own description of the server.'),
    registry: nonEmptyString.optional().describe('Name of the server in the MCP registry, for `trunkline registry update`.'),
    tags: nonEmptyStrings.prefault([]).describe('Tags by which rules and profiles select servers.'),
    share: shareSchema,
    trust: z
      .enum(['first-sight', 'manual', 'scan'])
      .prefault('first-sight')
      .describe(
        'How the tools, prompts and resources of the server are approved: `first-sight` approves its first listing, `scan` does so unless the inspection finds something suspicious, `manual` holds everything for approval by a person.',
      ),
    era: z
      .enum(['auto', 'legacy', 'modern'])
      .prefault('auto')
      .describe('Protocol generation of the server; `auto` detects and remembers it.'),
    idle: idle.optional().describe('Overrides the top-level `idle` for this server.'),
    timeouts: z
      .strictObject({
        connect: duration(1)
          .optional()
          .describe('Overrides the top-level `timeouts.connect` for this server.'),
        call: duration(1).optional().describe('Overrides the top-level `timeouts.call` for this server.'),
      })
      .prefault({})
      .describe('Timeouts of this server.'),
    limits: serverLimitsSchema,
    tools: z
      .strictObject({
        allow: nonEmptyStrings.prefault(['*']).describe('Globs. Only tools with a matching name are offered.'),
        deny: nonEmptyStrings
          .prefault([])
          .describe('Globs. Tools with a matching name are not offered, even if `allow` matches them.'),
        tiers: z
          .record(nonEmptyString, z.enum(['read', 'write', 'destructive']))
          .prefault({})
          .describe(
            'Tiers of tools by glob. The first match takes precedence over the annotations of the server and over guesses from the name.',
          ),
        describe: describeSchema,
        select: z
          .record(nonEmptyString, nonEmptyString)
          .prefault({})
          .describe(
            'JavaScript expressions over the `data` of a result, by glob, such as `"list_issues": "data.map(({ id, title }) => ({ id, title }))"`. If `expose.kind` is `search`, the model gets the value of the expression with the first matching glob instead of the whole result, unless its call has its own `select`. This saves tokens but does not protect data; use `redact` for that.',
          ),
        alwaysLoad: z
          .boolean()
          .prefault(false)
          .describe(
            'Whether the server may keep its tools in the context of clients that load tools only when they need them (`_meta["anthropic/alwaysLoad"]` of a tool). By default, Trunkline removes this key.',
          ),
      })
      .prefault({})
      .describe("Which of the server's tools are offered, by the server's own tool names."),
    passMeta: nonEmptyStrings
      .prefault([])
      .describe(
        "Globs of keys in a call's `_meta` that are passed on from clients of `/mcp` to this server, in addition to those that MCP defines. All others are removed, because clients put private data there, such as the ids of their session.",
      ),
    redact: serverRedactSchema,
    argumentRules: z
      .boolean()
      .prefault(true)
      .describe('Whether the top-level `argumentRules` apply to this server.'),
    disabled: z
      .boolean()
      .optional()
      .describe('The opposite of `enabled`, for compatibility with other clients.'),
    timeout: z
      .number()
      .positive()
      .max(maxDurationMs)
      .optional()
      .describe(
        'The same as `timeouts.call`, in milliseconds, for compatibility with other clients. A value below 1000 is ignored with a warning, because some clients count in seconds.',
      ),
    serverUrl: nonEmptyString.optional().describe('The same as `url`, for compatibility with other clients.'),
    authorizationToken: nonEmptyString
      .optional()
      .describe(
        'Token that is sent as `Authorization: Bearer …`, unless `headers` has an `Authorization`; for compatibility with other clients.',
      ),
    autoApprove: z
      .union([z.boolean(), z.array(z.string())], { error: 'must be a list of tool names' })
      .optional()
      .describe('Ignored; accepted for compatibility with other clients.'),
    alwaysAllow: z
      .union([z.boolean(), z.array(z.string())], { error: 'must be a list of tool names' })
      .optional()
      .describe('Ignored; accepted for compatibility with other clients.'),
  })
  .meta({
    description: 'An MCP server: either a program to start (`command`) or the URL of a server (`url`).',
    oneOf: [{ required: ['command'] }, { required: ['url'] }, { required: ['serverUrl'] }],
  });

/** The whole file. All defaults and descriptions of settings are in this folder; the documentation is generated from them. */
export const fileSchema = z
  .strictObject({
    $schema: z.string().optional().describe('URL of a JSON Schema, for editors.'),
    mcpServers: z
      .record(z.string().min(1).max(128), serverSchema)
      .prefault({})
      .describe('The MCP servers behind the gateway by name, in the format of most MCP clients. A name has up to 128 characters and may contain spaces; in the names of its tools, every character other than a letter, digit, `_` or `-` is replaced by `_`.'),
    names: z
      .strictObject({
        separator: z
          .string()
          .regex(/^[A-Za-z0-9_.-]{1,8}$/, {
            error: 'must be 1 to 8 letters, digits, underscores, dots or hyphens',
          })
          .prefault('__')
          .describe('Separator between the server name and the tool name.'),
      })
      .prefault({})
      .describe('Names of tools and prompts for clients.'),
    expose: z
      .strictObject({
        kind: z
          .enum(['auto', 'direct', 'search', 'code'])
          .prefault('auto')
          .describe(
            '`direct`: every tool is listed. `search`: a few tools that find and call all others. `code`: tools that find all others, and one that runs scripts that call them. `auto`: `direct` while the definitions cost less than `directBudget`, otherwise `search`.',
          ),
        directBudget: wholeNumber(0, 10_000_000)
          .prefault(4000)
          .describe('Maximum cost of all tool definitions, in estimated tokens, up to which `auto` lists them.'),
        shape: z
          .boolean()
          .prefault(true)
          .describe(
            'Whether known clients get shorter names, simpler schemas or search tools if they would reject the tools otherwise; see clients.md. Other clients always get all tools unchanged.',
          ),
        pin: nonEmptyStrings
          .prefault([])
          .describe('Globs over the tool names that clients see. In `search`, matching tools are listed, too.'),
        callTools: z
          .enum(['tiers', 'single'])
          .prefault('tiers')
          .describe(
            'In `search`: `tiers` offers one call tool per tier (read, write, destructive), so that a client can ask its user before calls of some tiers; `single` offers one call tool for all tiers.',
          ),
        reveal: z
          .boolean()
          .prefault(false)
          .describe(
            'In `search`: whether tools that were described or called are listed for the rest of the session. It has no effect for clients of the 2026-07-28 protocol, which have no sessions; `pin` works for all clients.',
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
            'If there is no cached catalog, the first list of tools waits for servers to answer until this time after the start. A request waits for at least half of this time, and for the whole time if no server answers. In the last quarter, the wait ends early if only a few of many servers have not answered and no more answers are arriving. The tools of `search` and `code` are listed without waiting.',
          ),
        refresh: duration(1)
          .prefault('30s')
          .describe('Time limit for fetching the tools, prompts and resources of a server again, after the start or with `trunkline refresh`.'),
      })
      .prefault({})
      .describe('Startup behaviour.'),
    timeouts: z
      .strictObject({
        connect: duration(1)
          .prefault('30s')
          .describe(
            'Time limit for starting a server or connecting to it. While a package launcher such as `npx` installs a server for the first time, only time in which the launcher is idle counts towards this limit.',
          ),
        call: duration(1).prefault('120s').describe('Time limit of a call; progress extends it.'),
        max: duration(1).prefault('1h').describe('Hard limit of one request, regardless of progress.'),
      })
      .prefault({})
      .describe('Timeouts; `connect` and `call` can be overridden per server.'),
    idleExit: duration(0)
      .prefault('15m')
      .describe('The background gateway stops after this time without a connected client.'),
    shutdown: duration(0).prefault('5s').describe('On shutdown, running calls get this time to finish.'),
    idle: idle
      .prefault('adaptive')
      .describe(
        'A server is stopped after this time without calls; the next call starts it again. `adaptive`: 1 to 5 minutes, depending on its usage.',
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
          .describe('Minimum level of the messages that are written.'),
      })
      .prefault({})
      .describe('The log on standard error.'),
  })
  .meta({
    title: 'Trunkline configuration',
    allowComments: true,
    allowTrailingCommas: true,
  });

export type ServerEntry = z.output<typeof serverSchema>;
export type ConfigFile = z.output<typeof fileSchema>;

/** Returns the JSON Schema of the file, for editors and for the documentation. */
export function generateJsonSchema(): object {
  return z.toJSONSchema(fileSchema, { io: 'input', target: 'draft-2020-12' });
}
