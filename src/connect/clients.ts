import type { Places, Source } from '../import/source.ts';
import { claudeCode } from '../import/sources/claude-code.ts';
import { claudeDesktop } from '../import/sources/claude-desktop.ts';
import { cline } from '../import/sources/cline.ts';
import { codex } from '../import/sources/codex.ts';
import { continueDev } from '../import/sources/continue.ts';
import { cursor } from '../import/sources/cursor.ts';
import { geminiCli } from '../import/sources/gemini-cli.ts';
import { vscode } from '../import/sources/vscode.ts';
import { windsurf } from '../import/sources/windsurf.ts';
import { zed } from '../import/sources/zed.ts';
import type { JsonObject } from '../model/json.ts';
import type { Format } from './format.ts';
import { jsonFormat } from './json-format.ts';
import { tomlFormat } from './toml-format.ts';
import { yamlFormat } from './yaml-format.ts';

/** A client whose configuration we can write ourselves into. */
export interface Client {
  readonly source: Source;
  readonly format: Format;
  /** The user's own file; of several the first that is there. */
  readonly files: (places: Places) => readonly string[];
  /** What it wants besides the command of a server. */
  readonly extra: JsonObject;
  /** Programs with windows often do not have the person's `PATH`. */
  readonly hasPath: boolean;
}

export const clients: readonly Client[] = [
  client(claudeDesktop, jsonFormat('mcpServers')),
  client(claudeCode, jsonFormat('mcpServers'), { extra: { type: 'stdio' }, hasPath: true }),
  client(cursor, jsonFormat('mcpServers')),
  client(vscode, jsonFormat('servers'), { extra: { type: 'stdio' } }),
  client(windsurf, jsonFormat('mcpServers')),
  client(zed, jsonFormat('context_servers'), { extra: { source: 'custom' } }),
  client(codex, tomlFormat('mcp_servers'), { hasPath: true }),
  client(geminiCli, jsonFormat('mcpServers'), { hasPath: true }),
  client(cline, jsonFormat('mcpServers')),
  client(continueDev, yamlFormat('mcpServers')),
];

function client(
  source: Source,
  format: Format,
  { extra = {}, hasPath = false }: { readonly extra?: JsonObject; readonly hasPath?: boolean } = {},
): Client {
  const name = source.id === 'vscode' ? 'mcp.json' : source.id === 'continue' ? 'config.yaml' : '';
  return {
    source,
    format,
    files: (places) =>
      source
        .files(places)
        .filter(({ scope, path }) => scope === 'user' && path.endsWith(name))
        .map(({ path }) => path),
    extra,
    hasPath,
  };
}
