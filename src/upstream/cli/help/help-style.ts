import type { CliStyle } from '../cli-command.ts';

const GO = [
  /\[command\] --help" for more/i,
  /<(?:sub)?command>(?: <subcommand>)? --help[`"'] for more/i,
  /COMMAND --help' for more information/,
  /Use "[^"\n]{1,80} options" for a list of global/,
  /^ +-h, --help +help for \S+/m,
];
const OTHERS = [
  /--help\s+Print help/, // clap
  /show this message and exit/i, // click
  /show this help message and exit/i, // argparse
  /display help for command/i, // commander
  /Show help +\[boolean\]/, // yargs
  /display this help(?: text)? and exit/i, // GNU
  /give this help list/i, // GNU argp
  /show this help, then exit/i, // PostgreSQL
];

/** What a help text betrays of the parser behind it. Whatever is not recognised is trusted with nothing. */
export function helpStyle(text: string, program: string): CliStyle {
  // `-name`, `-maxdepth`: whoever writes long options with one dash has a parser of its own.
  const isOdd = /^ {1,12}-[a-z]{3,}\b/m.test(text);
  const isGo = !isOdd && GO.some((pattern) => pattern.test(text));
  const isKnown = !isOdd && (isGo || OTHERS.some((pattern) => pattern.test(text)));
  // There `--` has a meaning of its own: what comes behind it is a path.
  const isGit = program === 'git';
  return {
    equals: isKnown || isGit,
    dashes: isKnown && !isGit,
    explicitFalse: isGo,
    responseFiles: /(?:^|\s)@<?(?:arg|argument )?files?\b/i.test(text),
  };
}

/** Subcommands have the parser of their program. */
export function inheritedStyle(own: CliStyle, above: CliStyle): CliStyle {
  return {
    equals: own.equals || above.equals,
    dashes: own.dashes || above.dashes,
    explicitFalse: own.explicitFalse || above.explicitFalse,
    responseFiles: own.responseFiles || above.responseFiles,
  };
}
