import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type CommandHome, program } from './command.ts';
import { temporaryFolder } from './test-run.ts';

export interface TerminalOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Lines of the `expect` language that run after the start of the program, such as `send "y\r"`. */
  readonly script?: readonly string[];
  /** A shell command to run instead of the program; `$TRUNKLINE` is the program. */
  readonly shell?: string;
}

export interface TerminalResult {
  readonly code: number;
  /** Everything that was written to the terminal, including escape sequences. */
  readonly screen: string;
}

/** Runs the built program in a real terminal, driven by `expect`. */
export async function runInTerminal(
  { env, home }: CommandHome,
  args: readonly string[],
  options: TerminalOptions = {},
): Promise<TerminalResult> {
  const { columns = 80, script = [], shell } = options;
  if (spawnSync('expect', ['-v']).error !== undefined)
    throw new Error(
      'This test drives a terminal with `expect`, which is missing: install the package "expect".',
    );
  const words = shell === undefined ? [process.execPath, program, ...args] : ['/bin/sh', '-c', shell];
  const file = join(temporaryFolder('terminal'), 'script.exp');
  writeFileSync(
    file,
    [
      'set timeout 20',
      `set stty_init "rows 40 columns ${columns}"`,
      `spawn -noecho ${words.map(quoted).join(' ')}`,
      ...script,
      'expect eof',
      'exit [lindex [wait] 3]',
    ].join('\n'),
  );
  const all = {
    ...process.env,
    TERM: 'xterm',
    // A pager would wait for a key, and a gateway in the background would outlive the test.
    PAGER: '',
    TRUNKLINE_STANDALONE: '1',
    ...env,
    ...options.env,
    TRUNKLINE: `${process.execPath} ${program}`,
  };
  const set = Object.entries(all).filter(([, value]) => value !== undefined);
  const child = spawn('expect', [file], {
    cwd: home,
    env: Object.fromEntries(set),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (screen += text));
  await once(child, 'close');
  return { code: child.exitCode ?? -1, screen: screen.replaceAll('\r\n', '\n') };
}

/** Returns the text that a person sees at the end, without colours and without overwritten text. */
export function visibleText(screen: string): string {
  return screen.replaceAll(/.*\r\u001b\[K/g, '').replaceAll(/\u001b\[[\d;]*m/g, '');
}

/** Returns a script line that waits until a file, such as the log of a fixture, contains a text. */
export function waitForText(file: string, text: string): string {
  return `exec sh -c ${quoted(`until grep -q -- '${text}' '${file}'; do sleep 0.05; done`)}`;
}

/** Quotes a text as one word of the `expect` language. */
function quoted(word: string): string {
  return `"${word.replaceAll(/[\\"$[\]{}]/g, String.raw`\$&`)}"`;
}
