// The peers from npm: their versions, how each is started in front of the servers of a home, and how a call through it looks. Everything
// else is at its defaults; logging is at its lowest level.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const merged = (tool, args, server = 'bench') => ({ name: `${server}__${tool}`, arguments: args });
const bare = (tool, args) => ({ name: tool, arguments: args });

/**
 * `args` are the arguments of the program `bin` of the package; `isOneServer` bridges have no catalog; `isMeta` peers list tools that
 * search and call other tools; `protocol` is `sse` if HTTP means the older HTTP+SSE.
 */
export const PEERS = [
  {
    name: '1mcp',
    package: '@1mcp/agent',
    version: '0.35.0',
    bin: '1mcp',
    transports: ['stdio', 'http'],
    args: ({ config, home, transport, port }) => [
      'serve',
      '--config',
      config,
      '--config-dir',
      home,
      '--log-level',
      'error',
      ...(transport === 'http'
        ? ['--transport', 'http', '--host', '127.0.0.1', '--port', String(port)]
        : ['--transport', 'stdio']),
    ],
    call: (tool, args, server = 'bench') => ({ name: `${server}_1mcp_${tool}`, arguments: args }),
  },
  {
    name: 'mcp-hub',
    package: 'mcp-hub',
    version: '4.2.1',
    bin: 'mcp-hub',
    transports: ['http'],
    protocol: 'sse',
    args: ({ config, port }) => ['--port', String(port), '--config', config],
    call: merged,
  },
  {
    name: 'mcp-hub-mcp',
    package: 'mcp-hub-mcp',
    version: '1.3.1',
    bin: 'mcp-hub-mcp',
    transports: ['stdio'],
    isMeta: true,
    args: ({ config }) => ['--config-path', config],
    call: (tool, args, server = 'bench') => ({
      name: 'call-tool',
      arguments: { serverName: server, toolName: tool, toolArgs: args },
    }),
  },
  {
    name: 'mcp-broker',
    package: 'mcp-broker',
    version: '0.3.0',
    bin: 'mcp-broker',
    transports: ['stdio'],
    isMeta: true,
    args: () => ['serve'],
    call: (tool, args, server = 'bench') => ({
      name: 'call_tools',
      arguments: { invocations: [{ server_name: server, tool_name: tool, arguments: args }] },
    }),
  },
  {
    name: 'slop-mcp',
    package: '@standardbeagle/slop-mcp',
    version: '0.15.0',
    bin: 'slop-mcp',
    /** Written in Go; it runs without the npm wrapper. */
    binary: `binaries/slop-mcp-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`,
    transports: ['stdio', 'http'],
    protocol: 'sse',
    isMeta: true,
    args: ({ transport, port }) => ['serve', ...(transport === 'http' ? ['--port', String(port)] : [])],
    call: (tool, args, server = 'bench') => ({
      name: 'execute_tool',
      arguments: { mcp_name: server, tool_name: tool, parameters: args },
    }),
  },
  {
    name: 'mcporter',
    package: 'mcporter',
    version: '0.12.3',
    /** This version of Node is installed with it if ours is too old. */
    node: '24.21.0',
    bin: 'mcporter',
    transports: ['stdio', 'http'],
    args: ({ home, transport, port }) => [
      '--config',
      join(home, 'mcporter.json'),
      'serve',
      ...(transport === 'http' ? ['--http', String(port)] : ['--stdio']),
    ],
    call: merged,
  },
  {
    name: 'mcp-proxy',
    package: 'mcp-proxy',
    version: '6.7.19',
    bin: 'mcp-proxy',
    transports: ['http'],
    isOneServer: true,
    args: ({ config, port }) => {
      const { command, args } = onlyServer(config);
      return ['--port', String(port), '--host', '127.0.0.1', '--server', 'stream', '--', command, ...args];
    },
    call: bare,
  },
  {
    name: 'supergateway',
    package: 'supergateway',
    version: '4.0.0',
    /** It starts a server for each session. */
    maxClients: 100,
    bin: 'supergateway',
    transports: ['http'],
    isOneServer: true,
    args: ({ config, port }) => {
      const { command, args } = onlyServer(config);
      return [
        '--stdio',
        [command, ...args].join(' '),
        '--outputTransport',
        'streamableHttp',
        '--stateful',
        '--port',
        String(port),
        '--logLevel',
        'none',
      ];
    },
    call: bare,
  },
];

/** Writes files into a home for peers that do not accept a configuration file as an argument. */
export function writePeerFiles(home, mcpServers) {
  const broker = join(home, '.mcp-broker');
  const slop = join(home, '.config', 'slop-mcp');
  for (const folder of [broker, slop]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(broker, 'servers.json'), JSON.stringify({ mcpServers }));
  const kept = Object.entries(mcpServers).map(([name, entry]) => [
    name,
    { ...entry, lifecycle: 'keep-alive' },
  ]);
  writeFileSync(join(home, 'mcporter.json'), JSON.stringify({ mcpServers: Object.fromEntries(kept) }));
  const blocks = Object.entries(mcpServers).map(([name, { command, args }]) => {
    const values = args.map((arg) => JSON.stringify(arg)).join(' ');
    return `mcp ${JSON.stringify(name)} {\n    type "stdio"\n    command ${JSON.stringify(command)}\n    args ${values}\n}\n`;
  });
  writeFileSync(join(slop, 'config.kdl'), blocks.join(''));
}

function onlyServer(config) {
  const { mcpServers } = JSON.parse(readFileSync(config, 'utf8'));
  const [server] = Object.values(mcpServers);
  return server;
}
