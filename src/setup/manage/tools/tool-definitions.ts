import { createHash } from 'node:crypto';

import { canonicalJson } from '../../../core/lib/canonical-json.ts';
import type { ToolEntry } from '../../../core/entry.ts';
import { OWN_SERVER_NAME } from '../../../core/ids.ts';
import type { ExposedName, Fingerprint } from '../../../core/ids.ts';

export const MANAGE_OPERATIONS = [
  'list',
  'add',
  'update',
  'remove',
  'enable',
  'disable',
  'restart',
  'refresh',
  'tail_log',
] as const;

const string = (description: string) => ({ type: 'string', description });
const object = (description: string) => ({ type: 'object', description });

/** The definition of `manage_servers`. Its annotations say that it is destructive, so that clients ask their users first. */
export function createManageServersEntry(): ToolEntry {
  return createEntry({
    name: 'manage_servers',
    title: 'Manage servers',
    description:
      'List, add, change, remove, enable, disable, restart or refresh the MCP servers behind this gateway, or read the log of one. ' +
      'A server that you add or run differently is held for approval by a person before it is started. ' +
      'Secrets are shown as •••; a ••• that you send back keeps its value. Prefer references such as ${env:NAME} to secrets.',
    inputSchema: {
      type: 'object',
      properties: {
        operation: { type: 'string', enum: [...MANAGE_OPERATIONS] },
        name: string('Name of the server; not needed for list, nor to add several.'),
        server: object(
          'add: its entry, such as {"command": "npx", "args": ["-y", "some-server"]} or {"url": "https://…"}.',
        ),
        servers: object('add: several entries by name, as in mcpServers.'),
        text: string('add: the configuration of any MCP client as text.'),
        changes: object('update: merged into the entry; null deletes a key, also in env and headers.'),
        lines: {
          type: 'integer',
          minimum: 1,
          maximum: 500,
          description: 'tail_log: maximum number of lines, 50 by default.',
        },
      },
      required: ['operation'],
    },
    annotations: {
      title: 'Manage servers',
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
  });
}

/** The definition of `tool_stats`, which reads the audit records. */
export function createToolStatsEntry(): ToolEntry {
  return createEntry({
    name: 'tool_stats',
    title: 'Tool statistics',
    description:
      'Returns the most called tools with their calls, errors, last use, duration and estimated tokens.',
    inputSchema: {
      type: 'object',
      properties: {
        top: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          description: 'Maximum number of tools, 10 by default.',
        },
      },
    },
    annotations: {
      title: 'Tool statistics',
      readOnlyHint: true,
      destructiveHint: false,
      openWorldHint: false,
    },
  });
}

function createEntry(definition: ToolEntry['definition']): ToolEntry {
  const hash = createHash('sha256').update(canonicalJson(definition)).digest('base64url');
  return {
    kind: 'tool',
    upstream: OWN_SERVER_NAME,
    name: definition.name as ExposedName,
    fingerprint: hash.slice(0, 22) as Fingerprint,
    definition,
  };
}
