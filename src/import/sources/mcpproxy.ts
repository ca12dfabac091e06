import { isJsonObject } from '../../model/json.ts';
import type { Dialect } from '../dialect.ts';
import { replaced, variableName } from '../dialect.ts';
import { foreignEntry, hasText } from '../foreign-entry.ts';
import { foreignJson } from '../foreign-text.ts';
import { atHome, ofProject, ofUser } from '../paths.ts';
import type { ReadServer, Source } from '../source.ts';

/** Its servers are a list; what was quarantined there waits for a person here as well. */
export const mcpproxy: Source = {
  id: 'mcpproxy',
  title: 'MCPProxy',
  files: (places) => [
    ofProject(places, 'mcp_config.json'),
    ofUser(atHome(places, '.mcpproxy', 'mcp_config.json')),
  ],
  read: (text, reading) => {
    const { mcpServers: servers } = foreignJson(text);
    return (Array.isArray(servers) ? servers : []).map((raw: unknown, at): ReadServer => {
      const name = isJsonObject(raw) && hasText(raw['name']) ? raw['name'] : `mcpproxy-${at + 1}`;
      const isHeld = isJsonObject(raw) && raw['quarantined'] === true;
      return foreignEntry(name, raw, {
        reading,
        dialect: keyring,
        ...(isHeld && { more: { trust: 'manual' } }),
      });
    });
  },
};

const keyring: Dialect = (text) =>
  replaced(text, (body) => {
    const [, kind, rest = ''] = /^(env|keyring):(.+)$/s.exec(body) ?? [];
    if (kind === 'env') return { text: `\${env:${rest}}` };
    if (kind === undefined) return undefined;
    const name = variableName(rest);
    return { text: `\${env:${name}}`, remark: `set ${name} in the environment; it was in a keyring` };
  });
