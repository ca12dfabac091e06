/** Names that a shell must insert as one word, although they contain its syntax. */
export const SHELL_NAMES = [
  '$(touch${IFS}PWNED)',
  '`touch${IFS}PWNED`',
  ';touch PWNED',
  'a b',
  "it's",
  '"quoted"',
  String.raw`back\slash`,
  'a!!b',
  '*',
  '~',
  '#x',
  '{a,b}',
  '>PWNED',
  '&touch PWNED&',
  `'";touch PWNED;"'`,
  String.raw`\';touch PWNED;\'`,
  String.raw`\";touch PWNED;\"`,
  "'",
  '"',
  '\\',
  '!',
  'ünïcode (ok)',
];

/** Names that must not be completed at all: control characters, and words that would be options. */
export const UNCOMPLETED_NAMES = [
  'line\ntouch PWNED\n',
  'tab\tPWNED',
  '\u001B]0;PWNED\u0007',
  'a\u202Eb',
  '-x',
];

export const HOSTILE_NAMES = [...SHELL_NAMES, ...UNCOMPLETED_NAMES];
