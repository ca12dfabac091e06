import { commonFlags } from './flags.mjs';

const tools = ['search_tools', 'describe_tools', 'read_result', 'call_read_tool'];

/** Qwen Code has the same rules. */
export const claudeRules = { permissions: { allow: tools.map((tool) => `mcp__trunkline__${tool}`) } };

export const claudeCode = {
  id: 'claude-code',
  title: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  version: '2.1.327',
  bin: 'claude',
  file: '.claude.json',
  environment: ({ url }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'scripted',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // The default for Anthropic's own endpoint; Claude Code turns it off for others.
    ENABLE_TOOL_SEARCH: 'true',
  }),
  addStdio: (name, command, options = []) => [
    'mcp',
    'add',
    '--scope',
    'user',
    name,
    ...options,
    '--',
    ...command,
  ],
  addHttp: (name, url, options = []) => [
    'mcp',
    'add',
    '--scope',
    'user',
    '--transport',
    'http',
    name,
    url,
    ...options,
  ],
  flags: commonFlags,
  list: ['mcp', 'list'],
  listed: /trunkline: .*Connected/,
  prompt: (text) => ['-p', text, '--allowedTools', 'mcp__trunkline', 'mcp__notes'],
  ask: {
    rules: (workspace) => workspace.write('.claude/settings.json', claudeRules),
    prompt: (text) => ['-p', text],
  },
};
