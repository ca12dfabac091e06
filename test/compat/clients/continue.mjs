const file = '.continue/config.yaml';

export const continueCli = {
  id: 'continue',
  title: 'Continue CLI',
  package: '@continuedev/cli',
  version: '1.5.47',
  bin: 'cn',
  needsNewerNode: true,
  file,
  environment: () => ({ CONTINUE_TELEMETRY_ENABLED: '0' }),
  prepare: (workspace, { url }) =>
    workspace.write(
      file,
      `name: scripted
version: 1.0.0
schema: v1
models:
  - name: scripted
    provider: openai
    model: gpt-4.1
    apiBase: ${url}/v1
    apiKey: scripted
    roles: [chat]
    capabilities: [tool_use]
`,
    ),
  // It has no command that adds servers.
  writeStdio: (workspace, name, [command, ...args]) =>
    addEntry(workspace, [`name: ${name}`, `command: ${command}`, `args: ${JSON.stringify(args)}`]),
  writeHttp: (workspace, name, url) =>
    addEntry(workspace, [`name: ${name}`, 'type: streamable-http', `url: ${url}`]),
  prompt: (text) => ['--auto', '-p', text],
};

function addEntry(workspace, lines) {
  const text = workspace.read(file);
  const entry = `  - ${lines.join('\n    ')}\n`;
  workspace.write(file, text.includes('mcpServers:') ? `${text}${entry}` : `${text}mcpServers:\n${entry}`);
}
