// What the index of the product is built from: tools under the names that they have behind the gateway.

import { createHash } from 'node:crypto';

import { generateCatalog } from '../data/catalog.mjs';

const FACTS = { era: 'legacy', protocol: '2025-06-18', capabilities: {} };
const SERVER_NAME_LENGTH = 28;
/** Server and tool name together, without the separator between them. */
const EXPOSED_NAME_LENGTH = 62;

/** So many tools of the generated catalog, with copies of it under other server names where it is not enough. */
export function catalogSource(count, servers = generateCatalog()) {
  const upstreams = new Map();
  const tools = new Map();
  for (let copy = 1; tools.size < count; copy += 1) {
    for (const { name, server, version, tools: definitions } of servers) {
      const upstream = copy === 1 ? name : `${name}-${copy}`;
      upstreams.set(upstream, { facts: { ...FACTS, info: { name: server, version } } });
      for (const definition of definitions) {
        if (tools.size >= count) break;
        const exposed = `${upstream}__${definition.name}`;
        const fingerprint = createHash('sha256').update(JSON.stringify(definition)).digest('hex');
        tools.set(exposed, { kind: 'tool', upstream, name: exposed, fingerprint, definition });
      }
    }
  }
  return { tools: sortedByName(tools), upstreams };
}

/** The tools of a public set, and a map from their exposed names to their ids in the set, `server/tool`. */
export function publicSetSource(tools) {
  const names = exposedNames(tools);
  const upstreams = new Map();
  const entries = new Map();
  const ids = new Map();
  for (const { server, name, description, inputSchema } of tools) {
    const id = `${server}/${name}`;
    const { upstream, tool } = names.get(id);
    const exposed = `${upstream}__${tool}`;
    upstreams.set(upstream, { facts: { ...FACTS, info: { name: server, version: '1.0.0' } } });
    ids.set(exposed, id);
    const definition = { name: tool, description, inputSchema: { ...inputSchema, type: 'object' } };
    entries.set(exposed, { kind: 'tool', upstream, name: exposed, fingerprint: id, definition });
  }
  return { source: { tools: sortedByName(entries), upstreams }, ids };
}

/** Names as MCP servers have them (letters, digits, `_` and `-`), unique and short enough. The sets have names of any kind. */
function exposedNames(tools) {
  const upstreams = new Map();
  const takenServers = new Set();
  for (const { server } of tools) {
    if (upstreams.has(server)) continue;
    const plain = server
      .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
      .replaceAll(/_{2,}/g, '_')
      .replaceAll(/^[-_]+|[-_]+$/g, '');
    upstreams.set(server, uniqueName(plain || 'server', takenServers, SERVER_NAME_LENGTH));
  }
  const names = new Map();
  const takenTools = new Map([...takenServers].map((upstream) => [upstream, new Set()]));
  for (const { server, name } of tools) {
    const upstream = upstreams.get(server);
    const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replaceAll(/^_+|_+$/g, '');
    const tool = uniqueName(plain || 'tool', takenTools.get(upstream), EXPOSED_NAME_LENGTH - upstream.length);
    names.set(`${server}/${name}`, { upstream, tool });
  }
  return names;
}

function uniqueName(name, taken, length) {
  let unique = name.slice(0, length);
  for (let number = 2; taken.has(unique); number += 1)
    unique = `${name.slice(0, length - String(number).length - 1)}-${number}`;
  taken.add(unique);
  return unique;
}

function sortedByName(tools) {
  return new Map([...tools].sort(([one], [other]) => (one < other ? -1 : 1)));
}
