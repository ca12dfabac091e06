import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';

/** So many tools: the real catalog, and copies of it under other server names where it is not enough. */
export function catalogSource(count) {
  const folder = new URL('../catalog/', import.meta.url);
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted();
  const servers = files.map((file) => ({
    name: file.slice(0, -5),
    ...JSON.parse(readFileSync(new URL(file, folder), 'utf8')),
  }));
  const upstreams = new Map();
  const tools = new Map();
  for (let copy = 1; tools.size < count; copy += 1) {
    for (const { name, server, version, tools: listed } of servers) {
      const upstream = copy === 1 ? name : `${name}-${copy}`;
      upstreams.set(upstream, {
        facts: { era: 'legacy', protocol: '2025-06-18', info: { name: server, version }, capabilities: {} },
      });
      for (const definition of listed) {
        if (tools.size >= count) break;
        const exposed = `${upstream}__${definition.name}`;
        const fingerprint = createHash('sha256').update(JSON.stringify(definition)).digest('hex');
        tools.set(exposed, { kind: 'tool', upstream, name: exposed, fingerprint, definition });
      }
    }
  }
  const sorted = [...tools].sort(([one], [other]) => (one < other ? -1 : 1));
  return { tools: new Map(sorted), upstreams };
}
