import { claudeCode } from './claude-code.mjs';
import { opencode } from './opencode.mjs';

/**
 * AI clients from npm in their non-interactive modes. `id` is the name for `trunkline connect` and `import`, `file` the configuration that
 * the client writes, relative to the home folder. `addStdio`, `addHttp`, `list` and `prompt` are arguments of the client's own commands.
 */
export const clients = [claudeCode, opencode];
