// The servers and tasks of the trial: the public catalog with short names as users give them, or the generated one.

import { readFileSync } from 'node:fs';

import { generateCatalog } from '../data/catalog.mjs';
import { readPublicCatalog } from '../data/public-data.mjs';
import { readRequests } from '../data/requests.mjs';

/** Servers with short names: `modelcontextprotocol__server-github` becomes `github`; on a collision, the later one keeps its owner. */
export function trialCatalog() {
  const servers = readPublicCatalog();
  if (servers === undefined) return { servers: generateCatalog(), isPublic: false };
  const taken = new Set();
  return {
    isPublic: true,
    servers: servers.map((server) => {
      const [owner, rest = owner] = server.name.split('__');
      const bare = rest
        .replace(/^(?:mcp-server-|server-|mcp-)/, '')
        .replace(/(?:^|-)(?:mcp-server|mcp|server)$/, '');
      const short = bare === '' ? owner : bare;
      const isTaken = taken.has(short);
      taken.add(short);
      return { ...server, name: isTaken ? server.name.replace('__', '-') : short };
    }),
  };
}

/** The tasks of `tasks.txt`, or, over the generated catalog, requests of agents as tasks of one step. */
export function trialTasks({ servers, isPublic }) {
  if (!isPublic)
    return readRequests(servers)
      .agents.slice(0, 80)
      .map(({ query, relevant: [first], equivalent }) => ({
        kind: 'request',
        request: query,
        steps: [{ query, tools: [first, ...equivalent[first]], select: '-' }],
      }));
  return readFileSync(new URL('tasks.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [kind, request, ...fields] = line.split(' | ');
      const [queries, tools, selects] = fields.map((field) => field.split(' && '));
      const steps = queries.map((query, at) => ({
        query,
        tools: tools[at] === '-' ? [] : tools[at].split(', '),
        select: selects[at],
      }));
      return { kind, request, steps };
    });
}
