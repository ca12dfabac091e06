import { isJsonObject } from '../../model/json.ts';
import { foreignEntry } from '../foreign-entry.ts';
import { foreignJson, namedServers } from '../foreign-text.ts';
import { shellLike } from '../dialect.ts';
import type { Source } from '../source.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { continueDev } from './continue.ts';
import { mcpproxy } from './mcpproxy.ts';
import { vscode } from './vscode.ts';
import { zed } from './zed.ts';

/** A file that a person names: what it is can be seen in it. */
export const anyFile: Source = {
  id: 'file',
  title: 'a file',
  files: () => [],
  read: (text, reading) => {
    if (reading.path.endsWith('.toml')) return codex.read(text, reading);
    if (/\.ya?ml$/.test(reading.path)) return continueDev.read(text, reading);
    const root = foreignJson(text);
    if (Array.isArray(root['mcpServers'])) return mcpproxy.read(text, reading);
    if (root['projects'] !== undefined) return claudeCode.read(text, reading);
    if (root['context_servers'] !== undefined) return zed.read(text, reading);
    if (root['servers'] !== undefined || isJsonObject(root['mcp'])) return vscode.read(text, reading);
    if (root['experimental'] !== undefined) return continueDev.read(text, reading);
    const named = namedServers(root, 'mcpServers');
    if (named.length === 0 && root['mcpServers'] === undefined)
      throw new Error('it has neither "mcpServers" nor "servers" nor "context_servers"');
    return named.map(([name, raw]) => foreignEntry(name, raw, { reading, dialect: shellLike() }));
  },
};
