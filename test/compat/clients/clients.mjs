import { auggie } from './auggie.mjs';
import { claudeCode } from './claude-code.mjs';
import { cline } from './cline.mjs';
import { codex } from './codex.mjs';
import { continueCli } from './continue.mjs';
import { copilotCli } from './copilot-cli.mjs';
import { droid } from './droid.mjs';
import { geminiCli } from './gemini-cli.mjs';
import { kimiCode } from './kimi-code.mjs';
import { kilo, opencode } from './opencode.mjs';
import { qoder } from './qoder.mjs';
import { qwenCode } from './qwen-code.mjs';

/**
 * AI clients from npm in their non-interactive modes. `id` is the name for `trunkline connect` and `import`, `file` the configuration that
 * the client writes, relative to the home folder. `addStdio`, `addHttp`, `list` and `prompt` are arguments of the client's own commands; a
 * client without a command that adds servers has `writeStdio` and `writeHttp`, which write what its documentation says. `flags` are the
 * arguments of these commands for variables, headers and allowed tools. A client that `reveals` lists tools again when they change in the
 * middle of a run. A client that `needsAccount` cannot run prompts here, so only the checks without a model apply.
 */
export const clients = [
  claudeCode,
  codex,
  geminiCli,
  qwenCode,
  copilotCli,
  opencode,
  kilo,
  cline,
  continueCli,
  kimiCode,
  auggie,
  droid,
  qoder,
];
