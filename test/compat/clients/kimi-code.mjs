const file = '.kimi-code/mcp.json';

export const kimiCode = {
  id: 'kimi-code',
  title: 'Kimi Code',
  package: '@moonshot-ai/kimi-code',
  version: '2.1.0',
  bin: 'kimi',
  needsNewerNode: true,
  file,
  environment: () => ({ KIMI_CODE_NO_AUTO_UPDATE: '1' }),
  prepare: (workspace, { url }) =>
    workspace.write(
      '.kimi-code/config.toml',
      `default_model = "scripted"

[providers.scripted]
type = "openai"
base_url = "${url}/v1"
api_key = "scripted"

[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 200000
`,
    ),
  // It has no command that adds servers.
  writeStdio: (workspace, name, [command, ...args]) => addEntry(workspace, name, { command, args }),
  writeHttp: (workspace, name, url) => addEntry(workspace, name, { transport: 'http', url }),
  prompt: (text) => ['-p', text],
};

function addEntry(workspace, name, entry) {
  const { mcpServers = {} } = workspace.exists(file) ? JSON.parse(workspace.read(file)) : {};
  workspace.write(file, { mcpServers: { ...mcpServers, [name]: entry } });
}
