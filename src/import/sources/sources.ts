import type { Source } from '../source.ts';
import { claudeCode } from './claude-code.ts';
import { claudeDesktop } from './claude-desktop.ts';
import { cline } from './cline.ts';
import { codex } from './codex.ts';
import { continueDev } from './continue.ts';
import { cursor } from './cursor.ts';
import { geminiCli } from './gemini-cli.ts';
import { mcp } from './mcp.ts';
import { mcpproxy } from './mcpproxy.ts';
import { mcproxy } from './mcproxy.ts';
import { mcpzip } from './mcpzip.ts';
import { oneMcp } from './one-mcp.ts';
import { vscode } from './vscode.ts';
import { windsurf } from './windsurf.ts';
import { zed } from './zed.ts';

/** Everything that servers can be imported from, in the order in which names are given away. */
export const sources: readonly Source[] = [
  ...[claudeDesktop, claudeCode, cursor, vscode, windsurf, zed, codex, geminiCli, cline, continueDev],
  ...[mcpzip, mcp, mcproxy, mcpproxy, oneMcp],
];
