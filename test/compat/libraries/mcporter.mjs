import { printLoop } from './loop.mjs';
import { runTool } from './run-tool.mjs';

const [kind, address] = process.argv.slice(2);
const server =
  kind === 'stdio'
    ? ['--stdio', 'trunkline', '--stdio-arg', 'serve']
    : ['--http-url', address, '--allow-http'];

await printLoop((name, args) =>
  runTool('mcporter', 'mcporter', [
    'call',
    ...server,
    '--name',
    'trunkline',
    '--tool',
    name,
    '--args',
    JSON.stringify(args),
  ]),
);
