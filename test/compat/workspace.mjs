// A throw-away home for one client, with `trunkline` on its PATH. Processes in it are bounded in time and ended with it.

import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { processesWith } from '../../bench/lib/proc.mjs';
import { cache } from './install.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(root, 'dist', 'main.js');
const notesServer = fileURLToPath(new URL('notes-server.mjs', import.meta.url));
/** Only a hanging program reaches these limits, however busy the machine is. */
const TIMEOUT_MS = 900_000;
const POLL_MS = 50;
const GRACE_MS = 30_000;
/** Variables of this process that programs in the workspace get. All others could name accounts or configurations of the user. */
const PASSED_VARIABLES = ['LANG', 'LC_ALL', 'SHELL', 'SystemRoot', 'TERM', 'TMPDIR', 'USER'];

/** Creates a workspace. `environment` holds variables that only programs in it get. */
export function createWorkspace() {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-compat-'));
  const running = new Set();
  const environment = {};
  const home = join(folder, 'home');
  const project = join(folder, 'project');
  const bin = join(folder, 'bin');
  const log = join(folder, 'notes.log');
  for (const each of [home, project, bin]) mkdirSync(each);
  symlinkSync(program, join(bin, 'trunkline'));

  /** Starts a command as the leader of its own process group, as a shell does. */
  const start = ([executable, ...args], { timeoutMs = TIMEOUT_MS, hasInput = false, env = {} } = {}) => {
    const child = spawn(executable, args, {
      cwd: project,
      env: {
        ...passedVariables(),
        PATH: [bin, process.env.PATH].join(delimiter),
        HOME: home,
        ...environment,
        ...env,
      },
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const texts = { stdout: '', output: '' };
    // A client on the streams of the process reads bytes.
    if (!hasInput) child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text) => {
      texts.stdout += text;
      texts.output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => (texts.output += text));
    const signal = (name) => kill(-Number(child.pid), name);
    const finished = new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        signal('SIGKILL');
        reject(new Error(`${executable} ran longer than ${timeoutMs / 1000} s: ${lastLine(texts.output)}`));
      }, timeoutMs);
      child.on('error', reject);
      // Not `close`: programs that the command left behind may keep its output open.
      child.on('exit', (code) => {
        clearTimeout(timer);
        running.delete(signal);
        setImmediate(() => resolve({ code, ...texts }));
      });
    });
    finished.catch(() => {}); // Whoever awaits it handles the error.
    running.add(signal);
    return { child, finished, signal, output: () => texts.output };
  };

  /** Runs a command to its end. Resolves with `{ code, stdout, output }`. */
  const run = (command, options) => start(command, options).finished;

  const end = () => {
    for (const signal of running) signal('SIGKILL');
    for (const { pid } of processesWith(folder)) kill(pid, 'SIGKILL');
  };
  const closeAtExit = () => {
    end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  /** Removing the packages of many servers takes long, and other clients are being checked meanwhile. */
  const close = async () => {
    end();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    process.off('exit', closeAtExit);
  };
  process.on('exit', closeAtExit); // An interrupted run leaves nothing behind, either.

  return {
    home,
    environment,
    start,
    run,
    /** The command of the server that is moved behind the gateway. */
    notesCommand: [process.execPath, notesServer, '--log', log],
    /** Returns what happened at the server: `started`, `call`, `called`, `cancelled`, `ended` … */
    notesEvents(event) {
      if (!existsSync(log)) return [];
      const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line)).filter((each) => each.event === event);
    },
    /** Writes a file below the home folder. Values other than strings become JSON. */
    write(path, value) {
      const file = join(home, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`);
    },
    exists: (path) => existsSync(join(home, path)),
    /**
     * Records what Trunkline sends to a client that starts it. `sessions()` returns the messages of each session. `clientFile` is the
     * configuration of the client, which may name the program by its path.
     */
    tap(clientFile) {
      const records = join(folder, 'tap');
      const command = join(bin, 'trunkline');
      mkdirSync(records, { recursive: true });
      rmSync(command);
      writeFileSync(command, tapScript(records), { mode: 0o755 });
      const configuration = join(home, clientFile);
      writeFileSync(configuration, readFileSync(configuration, 'utf8').replaceAll(program, command));
      return {
        end() {
          rmSync(command);
          symlinkSync(program, command);
        },
        sessions: () => readdirSync(records).map((name) => readMessages(join(records, name))),
      };
    },
    read: (path) => readFileSync(join(home, path), 'utf8'),
    /** Runs trunkline and returns its JSON output. Rejects if it fails. */
    async trunkline(name, ...args) {
      // Not at the end, which may be the command of a server.
      const { code, stdout, output } = await run([process.execPath, program, name, '--json', ...args]);
      if (code !== 0) throw new Error(`trunkline ${name} ${args.join(' ')} failed: ${lastLine(output)}`);
      return stdout.trim() === '' ? undefined : JSON.parse(stdout);
    },
    /** Returns the command lines of gateways and servers that still run in this workspace after a grace period. */
    async processesLeft(servers = [notesServer]) {
      // Clients leave processes of their own behind, such as Cline its hub.
      const isOurs = ({ command }) =>
        [program, join(bin, 'trunkline'), ...servers].some((part) => command.includes(part));
      const left = () => processesWith(folder).filter(isOurs);
      await waitFor('end of all processes', () => left().length === 0, GRACE_MS).catch(() => {});
      return left().map(({ command }) => command);
    },
    /** Removes paths of this machine from a message. */
    anonymize: (text) => text.replaceAll(folder, '…').replaceAll(root, '…/').replaceAll(cache, '…'),
    close,
  };
}

/** Waits until `read` returns something other than undefined or false. */
export async function waitFor(what, read, timeoutMs = TIMEOUT_MS / 2) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`no ${what} within ${timeoutMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Returns a program that runs Trunkline and copies its output to a file of its own. */
function tapScript(records) {
  return `#!${process.execPath}
const { spawn } = require('node:child_process');
const { appendFileSync } = require('node:fs');
const record = ${JSON.stringify(join(records, 'session-'))} + process.pid;
const args = [${JSON.stringify(program)}, ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { stdio: ['inherit', 'pipe', 'inherit'] });
child.stdout.on('data', (chunk) => {
  appendFileSync(record, chunk);
  process.stdout.write(chunk);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('close', (code) => process.exit(code ?? 1));
`;
}

/** The last line may be incomplete, because clients end Trunkline at any time. */
function readMessages(file) {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

function passedVariables() {
  const names = PASSED_VARIABLES.filter((name) => process.env[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, process.env[name]]));
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // The process or group has already ended.
  }
}

function lastLine(text) {
  return text.trim().split('\n').at(-1).slice(0, 300);
}
