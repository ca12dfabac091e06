// A program that never prints the help of one subcommand, and prints its own help for another.
const [, , ...args] = process.argv;
const ROOT = `Usage: slow <COMMAND>

Commands:
  quick   Answers
  stuck   Never answers
  again   Says the same again
`;
if (args[0] === 'stuck') setInterval(() => {}, 1000);
else if (args[0] === 'quick')
  process.stdout.write('Usage: slow quick [OPTIONS]\n\nOptions:\n  --now  At once\n');
else process.stdout.write(ROOT);
