import { claudeCode } from './claude-code.mjs';
import { cline } from './cline.mjs';
import { codex } from './codex.mjs';
import { copilotCli } from './copilot-cli.mjs';
import { geminiCli } from './gemini-cli.mjs';
import { opencode } from './opencode.mjs';
import { qwenCode } from './qwen-code.mjs';

/**
 * AI clients from npm in their non-interactive modes. `id` is the name for `trunkline connect` and `import`, `file` the configuration that
 * the client writes, relative to the home folder. `addStdio`, `addHttp`, `list` and `prompt` are arguments of the client's own commands.
 */
export const clients = [claudeCode, codex, geminiCli, qwenCode, copilotCli, opencode, cline];
