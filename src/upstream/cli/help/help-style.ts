import type { CliStyle } from '../cli-command.ts';

/** Phrases in the help texts of Go parsers, which accept `--flag=false`. */
const GO_PHRASES = [
  /\[command\] --help" for more/i,
  /<(?:sub)?command>(?: <subcommand>)? --help[`"'] for more/i,
  /COMMAND --help' for more information/,
  /Use "[^"\n]{1,80} options" for a list of global/,
  /^ +-h, --help +help for \S+/m,
];
const OTHER_PHRASES = [
  /--help\s+Print help/, // clap
  /show this message and exit/i, // click
  /show this help message and exit/i, // argparse
  /display help for command/i, // commander
  /Show help +\[boolean\]/, // yargs
  /display this help(?: text)? and exit/i, // GNU
  /give this help list/i, // GNU argp
  /show this help, then exit/i, // PostgreSQL
];

/** Detects the parser of a program by typical phrases of its help text. An unknown parser is assumed to support nothing. */
export function detectParserStyle(text: string, program: string): CliStyle {
  // A program with long options after a single dash, such as `-name` or `-maxdepth`, has its own parser.
  const isOwnParser = /^ {1,12}-[a-z]{3,}\b/m.test(text);
  const isGo = !isOwnParser && GO_PHRASES.some((pattern) => pattern.test(text));
  const isKnown = !isOwnParser && (isGo || OTHER_PHRASES.some((pattern) => pattern.test(text)));
  // In git `--` has another meaning: the words after it are paths.
  const isGit = program === 'git';
  return {
    equals: isKnown || isGit,
    dashes: isKnown && !isGit,
    explicitFalse: isGo,
    responseFiles: /(?:^|\s)@<?(?:arg|argument )?files?\b/i.test(text),
  };
}

/** Combines the styles of a subcommand and its parent, which share one parser. */
export function inheritStyle(own: CliStyle, parent: CliStyle): CliStyle {
  return {
    equals: own.equals || parent.equals,
    dashes: own.dashes || parent.dashes,
    explicitFalse: own.explicitFalse || parent.explicitFalse,
    responseFiles: own.responseFiles || parent.responseFiles,
  };
}
