import { printLoop } from './loop.mjs';
import { runTool } from './run-tool.mjs';

const [kind, address] = process.argv.slice(2);
const server = kind === 'stdio' ? ['trunkline', 'serve'] : [address, '--transport', 'http'];

await printLoop((name, args) => {
  const pairs = Object.entries(args).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const method = ['--method', 'tools/call', '--tool-name', name, '--tool-arg', ...pairs];
  return runTool('@modelcontextprotocol/inspector', 'inspector', ['--cli', ...server, ...method]);
});
