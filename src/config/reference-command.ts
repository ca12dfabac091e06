import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { isJsonObject } from '../core/json.ts';

/** The kinds of references whose value a program prints. */
const COMMAND_KINDS = ['cmd', 'op', 'vault', 'aws-sm'] as const;
export type CommandKind = (typeof COMMAND_KINDS)[number];

/** A program that prints the value of a reference. */
export interface ReferenceCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** The member of the printed JSON object that holds the value. */
  readonly member?: string | undefined;
}

export function isCommandKind(kind: string): kind is CommandKind {
  return (COMMAND_KINDS as readonly string[]).includes(kind);
}

/** Returns the program of a reference such as `${cmd:["op","read","op://…"]}` or `${op:…}`, or why its text is invalid. */
export function readReferenceCommand(kind: CommandKind, text: string): ReferenceCommand | string {
  if (kind === 'cmd') return readCommandLine(text);
  if (kind === 'op') {
    const address = text.startsWith('op://') ? text : `op://${text}`;
    return { program: 'op', args: ['read', '--no-newline', address] };
  }
  const at = text.lastIndexOf('#');
  const [path, key] = at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
  // The program would read a path that starts with "-" as an option.
  if (path.startsWith('-') || path === '' || key === '') return `it needs a path, as in \${${kind}:path#key}`;
  if (kind === 'vault')
    return key === undefined
      ? 'it needs the key after the path, as in ${vault:path#key}'
      : { program: 'vault', args: ['kv', 'get', `-field=${key}`, path] };
  const args = ['secretsmanager', 'get-secret-value', `--secret-id=${path}`];
  return { program: 'aws', args: [...args, '--query=SecretString', '--output=text'], member: key };
}

function readCommandLine(text: string): ReferenceCommand | string {
  const problem = 'it needs a list of texts in JSON, as in ${cmd:["op","read","op://vault/item/field"]}';
  let words: unknown;
  try {
    words = JSON.parse(text);
  } catch {
    return problem;
  }
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string')) return problem;
  const [program, ...args] = words as readonly string[]; // Every word was just checked.
  return program === undefined || program === '' ? problem : { program, args };
}

export interface ProgramEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder in which the program runs: never that of a client or a project. */
  readonly cwd: string;
  readonly timeoutMs?: number | undefined;
  /** Ends the program when it is disposed of; absent in commands, whose programs may use the terminal. */
  readonly running?: RunningPrograms | undefined;
}

/** The programs of a gateway that are about to print a value. Disposal ends them, with the processes that they have started. */
export class RunningPrograms implements AsyncDisposable {
  readonly #exits = new Map<ChildProcess, Promise<unknown>>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(child: ChildProcess): void {
    const exit = new Promise<void>((resolve) => {
      child.once('exit', () => resolve()).once('error', () => resolve());
    });
    this.#exits.set(child, exit);
    void exit.then(() => this.#exits.delete(child));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const exits = [...this.#exits];
    for (const [child] of exits) endProgram(child, true);
    await Promise.all(exits.map(([, exit]) => exit));
  }
}

/** Ends a program, with all processes of its group if it leads one. */
function endProgram(child: ChildProcess, isGroup: boolean): void {
  try {
    if (isGroup && child.pid !== undefined && process.platform !== 'win32')
      process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It has already exited.
  }
  child.stdout?.destroy(); // A process that left the group may hold it open.
}

/** Long enough for a person to unlock a password manager. */
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 64 * 1024;

/** The reason why a program printed no value. It contains no output of the program, because that could be a secret. */
export class ProgramFailure extends Error {}

/** Runs the program of a reference without a shell and returns what it prints. */
export async function runReferenceCommand(
  { program, args, member }: ReferenceCommand,
  environment: ProgramEnvironment,
): Promise<string> {
  const text = await runForOutput(program, args, environment);
  if (member === undefined) return text;
  const value = readMember(text, member);
  if (value === undefined) throw new ProgramFailure(`did not print a JSON object with a text "${member}"`);
  return value;
}

/** Runs a program and returns its standard output without the final line breaks. With `isShellLine`, the shell runs the text of `program`. */
export function runForOutput(
  program: string,
  args: readonly string[],
  {
    env,
    cwd,
    timeoutMs = TIMEOUT_MS,
    running,
    isShellLine = false,
  }: ProgramEnvironment & { isShellLine?: boolean },
): Promise<string> {
  if (running?.isClosed === true)
    return Promise.reject(new ProgramFailure('was not started, because the gateway is stopping'));
  return new Promise((resolve, reject) => {
    const fail = (problem: string): void => {
      endProgram(child, running !== undefined);
      reject(new ProgramFailure(problem));
    };
    const child = spawn(program, args, {
      env,
      cwd,
      shell: isShellLine,
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
      // A group of its own can be ended as a whole, but cannot ask a person at the terminal.
      detached: running !== undefined && process.platform !== 'win32',
    });
    running?.add(child);
    const timer = setTimeout(() => fail(`printed no value within ${timeoutMs / 1000} s`), timeoutMs);
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) fail(`printed more than ${MAX_BYTES / 1024} KB`);
      else chunks.push(chunk);
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(
        new ProgramFailure(error.code === 'ENOENT' ? 'was not found' : `cannot be started (${error.code})`),
      );
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (code !== 0)
        reject(
          new ProgramFailure(`ended with ${code === null ? `the signal ${signal}` : `exit code ${code}`}`),
        );
      else
        resolve(
          Buffer.concat(chunks)
            .toString('utf8')
            .replace(/[\r\n]+$/, ''),
        );
    });
  });
}

function readMember(text: string, member: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value) || !Object.hasOwn(value, member)) return undefined;
    return typeof value[member] === 'string' ? value[member] : undefined;
  } catch {
    return undefined;
  }
}
