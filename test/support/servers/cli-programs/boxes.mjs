// A program with many subcommands that does not use MCP: prints its arguments, fails, floods, hangs, leaves children behind.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [, , ...args] = process.argv;
const { BOXES_LOG } = process.env;
if (BOXES_LOG) appendFileSync(BOXES_LOG, `${JSON.stringify(args)}\n`);

const ROOT = `Boxes and what is in them

Usage: boxes <COMMAND>

Commands:
  list      List the boxes
  show-env  Show some of the environment
  fail      Fail, with a reason
  flood     Write very much
  hang      Wait for ever, with children that ignore being asked to end
  leave     Leave a child behind that holds the output
  binary    Write bytes that are no text
  picture   Write a picture
  stdin     Read standard input to its end
  admin     Dangerous things
  help      Print this message

Options:
  -h, --help  Print help
`;
const HELP = {
  '': ROOT,
  list: `List the boxes

Usage: boxes list [OPTIONS] [NAME]...

Options:
      --colour <COLOUR>  Only of this colour [possible values: red, blue]
  -n, --max <N>          At most so many
      --tag <TAG>...     With this tag
      --[no-]empty       Empty ones, too
  -l, --long             With details
  -h, --help             Print help
`,
  admin: `Dangerous things

Usage: boxes admin <COMMAND>

Commands:
  wipe    Delete everything
  status  Show what is going on

Options:
  -h, --help  Print help
`,
};
const usage = (path) => `Does it\n\nUsage: boxes ${path} [OPTIONS]\n\nOptions:\n  -h, --help  Print help\n`;

if (args.includes('--help')) {
  const path = args.filter((arg) => !arg.startsWith('-')).join(' ');
  process.stdout.write(HELP[path] ?? usage(path));
} else run(args);

function run([command, ...rest]) {
  switch (command) {
    case 'fail':
      process.stdout.write('half of it\n');
      process.stderr.write('it broke\n');
      process.exitCode = 3;
      break;
    case 'show-env':
      process.stdout.write(JSON.stringify({ PAGER: process.env.PAGER, TERM: process.env.TERM }));
      break;
    case 'flood': {
      const line = `${'é'.repeat(500)}\n`;
      for (let at = 0; at < 3000; at++) process.stdout.write(line);
      break;
    }
    case 'hang': {
      const code = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);";
      const child = spawn(process.execPath, ['-e', code, `--run=${process.env.BOXES_RUN}`], {
        stdio: 'inherit',
      });
      if (BOXES_LOG) appendFileSync(BOXES_LOG, `${JSON.stringify({ pids: [process.pid, child.pid] })}\n`);
      process.on('SIGTERM', () => {});
      setInterval(() => {}, 1000);
      break;
    }
    case 'leave': {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
      child.unref();
      if (BOXES_LOG) appendFileSync(BOXES_LOG, `${JSON.stringify({ pids: [process.pid, child.pid] })}\n`);
      process.stdout.write('left\n');
      process.exit(0);
      break;
    }
    case 'binary':
      process.stdout.write(Buffer.from([0, 1, 2, 255, 0]));
      break;
    case 'picture':
      process.stdout.write(
        Buffer.from(
          'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
          'base64',
        ),
      );
      break;
    case 'stdin': {
      let bytes = 0;
      process.stdin.on('data', (chunk) => (bytes += chunk.length));
      process.stdin.on('end', () => process.stdout.write(`${bytes} bytes\n`));
      break;
    }
    default:
      process.stdout.write(JSON.stringify([command, ...rest]));
  }
}
