import { commonFlags } from './flags.mjs';

/** Returns the arguments that run a prompt with the scripted model. */
const execute =
  (options) =>
  (text, { url }) => {
    const provider = `{name="scripted",base_url="${url}/v1",wire_api="responses",env_key="SCRIPTED_KEY"}`;
    const settings = ['model_provider="scripted"', `model_providers.scripted=${provider}`, 'model="gpt-5.5"'];
    return ['exec', '--skip-git-repo-check', ...options, ...settings.flatMap((each) => ['-c', each]), text];
  };

export const codex = {
  id: 'codex',
  title: 'Codex',
  package: '@openai/codex',
  version: '0.169.0',
  bin: 'codex',
  file: '.codex/config.toml',
  environment: () => ({ SCRIPTED_KEY: 'scripted' }),
  addStdio: (name, command, options = []) => ['mcp', 'add', name, ...options, '--', ...command],
  addHttp: (name, url, options = []) => ['mcp', 'add', name, '--url', url, ...options],
  // It takes the name of the variable that holds the token.
  flags: { variable: commonFlags.variable, token: (variable) => ['--bearer-token-env-var', variable] },
  list: ['mcp', 'list'],
  listed: /^trunkline .*enabled/m,
  listsWithoutConnecting: true,
  prompt: execute(['--dangerously-bypass-approvals-and-sandbox']),
  ask: { prompt: execute([]) },
  // With the namespace `mcp__trunkline`, the model API accepts 128 characters.
  maxName: 64,
};
