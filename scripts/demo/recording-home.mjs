// The home folder of the terminal recording: three clients with ten servers, of which three do not work. A stand-in for `npx` starts made-up servers.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const demoServer = fileURLToPath(new URL('demo-server.mjs', import.meta.url));

const npx = `#!/bin/sh
name=\${2#@acme/}
name=\${name%-mcp}
case "$name" in
  jira)
    echo 'npm error code E404' >&2
    echo "npm error 404  The requested resource '@acme/jira-mcp@*' could not be found or you do not have permission to access it." >&2
    exit 1 ;;
esac
exec "${process.execPath}" "${demoServer}" "$name"
`;

function packageEntry(name, env) {
  return { command: 'npx', args: ['-y', `@acme/${name}-mcp`], ...(env && { env }) };
}

function formatJson(mcpServers) {
  return `${JSON.stringify({ mcpServers }, null, 2)}\n`;
}

/** Creates the folder, and replaces what an earlier recording left in it. */
export function createRecordingHome(home) {
  rmSync(home, { recursive: true, force: true });
  const write = (path, text, mode = 0o600) => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode });
  };
  write('bin/npx', npx, 0o700);
  write(
    '.claude.json',
    formatJson({
      github: packageEntry('github'),
      linear: packageEntry('linear'),
      slack: packageEntry('slack', { SLACK_TOKEN: '${SLACK_TOKEN}' }),
      sentry: packageEntry('sentry'),
    }),
  );
  write(
    '.cursor/mcp.json',
    formatJson({
      github: packageEntry('github'),
      postgres: packageEntry('postgres'),
      jira: packageEntry('jira'),
      notion: packageEntry('notion'),
    }),
  );
  const codex = ['kubernetes', 'stripe', 'browser'].map(
    (name) => `[mcp_servers.${name}]\ncommand = "npx"\nargs = ["-y", "@acme/${name}-mcp"]\n`,
  );
  write('.codex/config.toml', codex.join('\n'));
}
