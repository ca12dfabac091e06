import { isJsonObject } from '../../../core/json.ts';
import { listServerEntries, parseClientJson } from '../client-json.ts';
import { convertClientEntry } from '../convert-client-entry.ts';
import { shellDialect } from '../dialect.ts';
import type { ImportSource } from '../import-source.ts';
import { claudeCode } from './claude-code.ts';
import { claudeDesktop } from './claude-desktop.ts';
import { cline } from './cline.ts';
import { codex } from './codex.ts';
import { continueDev } from './continue.ts';
import { cursor } from './cursor.ts';
import { geminiCli } from './gemini-cli.ts';
import { mcp, mcpproxy, mcproxy, mcpzip, oneMcp } from './other-gateways.ts';
import { vscode } from './vscode.ts';
import { windsurf } from './windsurf.ts';
import { zed } from './zed.ts';

/** All clients and gateways to import from. Of servers with the same name, the one of the first source is imported. */
export const importSources: readonly ImportSource[] = [
  claudeDesktop,
  claudeCode,
  cursor,
  vscode,
  windsurf,
  zed,
  codex,
  geminiCli,
  cline,
  continueDev,
  mcpzip,
  mcp,
  mcproxy,
  mcpproxy,
  oneMcp,
];

/** A file that the user named. Its format is detected from its name and content. */
export const anyFileSource: ImportSource = {
  id: 'file',
  title: 'a file',
  files: () => [],
  read: (text, context) => {
    if (context.path.endsWith('.toml')) return codex.read(text, context);
    if (/\.ya?ml$/.test(context.path)) return continueDev.read(text, context);
    const root = parseClientJson(text);
    if (Array.isArray(root['mcpServers'])) return mcpproxy.read(text, context);
    if (root['projects'] !== undefined) return claudeCode.read(text, context);
    if (root['context_servers'] !== undefined) return zed.read(text, context);
    if (root['servers'] !== undefined || isJsonObject(root['mcp'])) return vscode.read(text, context);
    if (root['experimental'] !== undefined) return continueDev.read(text, context);
    if (root['mcpServers'] === undefined) {
      throw new Error('it has neither "mcpServers" nor "servers" nor "context_servers"');
    }
    return listServerEntries(root, 'mcpServers').map(([name, raw]) =>
      convertClientEntry(name, raw, { context, dialect: shellDialect() }),
    );
  },
};
