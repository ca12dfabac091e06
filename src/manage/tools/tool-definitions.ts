import { createHash } from 'node:crypto';

import { canonicalJson } from '../../lib/canonical-json.ts';
import type { ToolEntry } from '../../model/entry.ts';
import { OWN_SERVER } from '../../model/ids.ts';
import type { ExposedName, Fingerprint } from '../../model/ids.ts';

export const OPERATIONS = [
  ...['list', 'add', 'update', 'remove', 'enable', 'disable', 'restart', 'refresh', 'tail_log'],
] as const;

const text = (description: string) => ({ type: 'string', description });
const object = (description: string) => ({ type: 'object', description });

/** Changes which servers there are; by its hints it destroys, so that clients ask before it. */
export function manageServersEntry(): ToolEntry {
  return entryOf({
    name: 'manage_servers',
    title: 'Manage servers',
    description:
      'List, add, change, remove, enable, disable, restart or refresh the MCP servers behind this gateway, or read the log of one. ' +
      'What you add, and a server that you run differently, waits for a person to approve it before anything is started. ' +
      'Secrets are shown as •••; a ••• that you send back keeps its value. Prefer references such as ${env:NAME} to secrets.',
    inputSchema: {
      type: 'object',
      properties: {
        operation: { type: 'string', enum: [...OPERATIONS] },
        name: text('The server; not needed for list, nor to add several.'),
        server: object(
          'add: its entry, such as {"command": "npx", "args": ["-y", "some-server"]} or {"url": "https://…"}.',
        ),
        servers: object('add: several entries by name, as in mcpServers.'),
        text: text('add: a configuration of any MCP client, as it was pasted.'),
        changes: object('update: merged into the entry; null deletes a key, also in env and headers.'),
        lines: {
          type: 'integer',
          minimum: 1,
          maximum: 500,
          description: 'tail_log: how many at most, 50 unless given.',
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

/** Reads what was recorded. */
export function toolStatsEntry(): ToolEntry {
  return entryOf({
    name: 'tool_stats',
    title: 'Tool statistics',
    description:
      'Which tools are called most: calls, errors, last use, duration and estimated tokens of each.',
    inputSchema: {
      type: 'object',
      properties: {
        top: { type: 'integer', minimum: 1, maximum: 100, description: 'How many at most, 10 unless given.' },
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

function entryOf(definition: ToolEntry['definition']): ToolEntry {
  const hash = createHash('sha256').update(canonicalJson(definition)).digest('base64url');
  return {
    kind: 'tool',
    upstream: OWN_SERVER,
    name: definition.name as ExposedName,
    fingerprint: hash.slice(0, 22) as Fingerprint,
    definition,
  };
}
