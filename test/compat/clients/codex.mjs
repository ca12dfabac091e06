export const codex = {
  id: 'codex',
  title: 'Codex',
  package: '@openai/codex',
  version: '0.169.0',
  bin: 'codex',
  file: '.codex/config.toml',
  environment: () => ({ SCRIPTED_KEY: 'scripted' }),
  addStdio: (name, command) => ['mcp', 'add', name, '--', ...command],
  addHttp: (name, url) => ['mcp', 'add', name, '--url', url],
  list: ['mcp', 'list'],
  // Codex lists entries without connecting to them.
  listed: /^trunkline .*enabled/m,
  prompt: (text, { url }) => {
    const provider = `{name="scripted",base_url="${url}/v1",wire_api="responses",env_key="SCRIPTED_KEY"}`;
    const settings = ['model_provider="scripted"', `model_providers.scripted=${provider}`, 'model="gpt-5.5"'];
    const sandbox = '--dangerously-bypass-approvals-and-sandbox';
    return ['exec', '--skip-git-repo-check', sandbox, ...settings.flatMap((each) => ['-c', each]), text];
  },
};
