import type { ClientEnvironment, ImportSource } from '../import/import-source.ts';
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
import type { JsonObject } from '../../core/json.ts';
import { jsonFormat, tomlFormat, yamlFormat } from './client-file-formats.ts';
import type { ClientFileFormat } from './client-file-formats.ts';

/** A client whose configuration `trunkline connect` can edit. */
export interface ConnectableClient {
  readonly source: ImportSource;
  readonly format: ClientFileFormat;
  /** Returns the candidates for the user's own file; the first one that exists is used. */
  readonly files: (environment: ClientEnvironment) => readonly string[];
  /** Members that the client needs in an entry in addition to the command. */
  readonly extra: JsonObject;
  /** Whether the client has the user's `PATH`; desktop applications often do not. */
  readonly inheritsPath: boolean;
}

export const connectableClients: readonly ConnectableClient[] = [
  defineClient(claudeDesktop, jsonFormat('mcpServers')),
  defineClient(claudeCode, jsonFormat('mcpServers'), { extra: { type: 'stdio' }, inheritsPath: true }),
  defineClient(cursor, jsonFormat('mcpServers')),
  defineClient(vscode, jsonFormat('servers'), { extra: { type: 'stdio' }, fileName: 'mcp.json' }),
  defineClient(windsurf, jsonFormat('mcpServers')),
  defineClient(zed, jsonFormat('context_servers'), { extra: { source: 'custom' } }),
  defineClient(codex, tomlFormat('mcp_servers'), { inheritsPath: true }),
  defineClient(geminiCli, jsonFormat('mcpServers'), { inheritsPath: true }),
  defineClient(cline, jsonFormat('mcpServers')),
  defineClient(continueDev, yamlFormat('mcpServers'), { fileName: 'config.yaml' }),
];

function defineClient(
  source: ImportSource,
  format: ClientFileFormat,
  options: {
    readonly extra?: JsonObject;
    readonly inheritsPath?: boolean;
    /** Selects one of several user files of the source. */
    readonly fileName?: string;
  } = {},
): ConnectableClient {
  const { extra = {}, inheritsPath = false, fileName = '' } = options;
  return {
    source,
    format,
    files: (environment) =>
      source
        .files(environment)
        .filter(({ scope, path }) => scope === 'user' && path.endsWith(fileName))
        .map(({ path }) => path),
    extra,
    inheritsPath,
  };
}
