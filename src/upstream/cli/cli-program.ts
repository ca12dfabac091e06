import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CliConfig } from '../../config/config.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { makeFolder } from '../../core/lib/make-folder.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../observability/log.ts';
import { RPC_ERROR_CODES } from '../../protocol/era.ts';
import { buildArgv, InvalidArgumentsError } from './build-argv.ts';
import { toCallResult } from './call-result.ts';
import type { CliCommand } from './cli-command.ts';
import type { CliBackend } from './cli-server.ts';
import { discoverCommands } from './discover-commands.ts';
import type { DiscoveryCache, DiscoveryKey } from './discovery-cache.ts';
import { findHelpCommand } from './help/known-programs.ts';
import type { HelpCommand } from './help/known-programs.ts';
import { MAX_HELP_CHARS } from './help/plain-text.ts';
import { createPresetTools } from './preset-tools.ts';
import type { ProgramName } from './program-name.ts';
import { runProgram } from './run-program.ts';
import type { ProgramSettings } from './run-program.ts';
import { createCliTools } from './cli-tools.ts';
import type { CliTool } from './cli-tools.ts';

interface CliProgramOptions {
  readonly settings: ProgramSettings;
  /** The fixed arguments, with references resolved. */
  readonly args: readonly string[];
  readonly program: ProgramName;
  readonly cli: CliConfig;
  readonly key: DiscoveryKey;
  readonly cache: DiscoveryCache;
  readonly log: Logger;
  readonly now: () => number;
  readonly helpMs?: number;
  readonly discoveryMs?: number;
}

/** Maximum time for one help text. */
const HELP_MS = 10_000;
/** Maximum time for reading all help texts of a program. */
const DISCOVERY_MS = 60_000;
const MAX_STDERR = 64 * 1024;
/** Makes programs print their help in English, in wide lines and without a pager. */
const HELP_ENV = { LC_ALL: 'C.UTF-8', LANGUAGE: '', COLUMNS: '160', LINES: '10000' };

/** One program whose subcommands, or configured presets, are tools. */
export class CliProgram implements CliBackend {
  readonly #options: CliProgramOptions;
  readonly #closing = new Cancellation();
  #tools: Promise<ReadonlyMap<string, CliTool>> | undefined;
  /** False after `forget`, so that the help texts are read again. */
  #mayUseCache = true;
  #isDiscovering = false;

  constructor(options: CliProgramOptions) {
    this.#options = options;
  }

  get info(): JsonObject {
    const { name, words } = this.#options.program;
    return { name: [name, ...words].join(' '), version: '0' };
  }

  async list(): Promise<readonly JsonObject[]> {
    return [...(await this.#getTools()).values()].map(({ definition }) => definition);
  }

  async call(name: string, args: JsonObject, cancellation: Cancellation): Promise<JsonObject> {
    const tool = (await this.#getTools()).get(name);
    if (tool === undefined)
      throw new RpcError({ code: RPC_ERROR_CODES.invalidParams, message: `Unknown tool: ${name}` });
    let argv: readonly string[];
    try {
      argv = buildArgv(tool, args);
    } catch (error) {
      if (error instanceof InvalidArgumentsError) return failure(error.message);
      throw error;
    }
    const { settings: setting, cli } = this.#options;
    try {
      const limits = {
        cancellation,
        maxStdout: cli.maxOutput,
        maxStderr: Math.min(MAX_STDERR, cli.maxOutput),
      };
      return toCallResult(await runProgram(setting, argv, limits));
    } catch (error) {
      cancellation.throwIfCancelled();
      return failure(`The program cannot be started: ${describeStartError(error)}.`);
    }
  }

  forget(): void {
    if (this.#isDiscovering) return; // The running discovery already reads the current help texts.
    this.#mayUseCache = false;
    this.#tools = undefined;
  }

  async close(): Promise<void> {
    this.#closing.cancel(new GatewayError('SHUTTING_DOWN', 'The connection was closed.'));
    await this.#tools?.catch(() => {});
  }

  #getTools(): Promise<ReadonlyMap<string, CliTool>> {
    this.#tools ??= this.#loadTools().catch((error: unknown) => {
      this.#tools = undefined;
      throw error;
    });
    return this.#tools;
  }

  async #loadTools(): Promise<ReadonlyMap<string, CliTool>> {
    const { program, args, cli } = this.#options;
    const tools =
      cli.tools.length > 0
        ? createPresetTools(program.name, args, cli.tools)
        : createCliTools(program, args, await this.#loadCommands());
    return new Map(tools.map((tool) => [tool.definition.name, tool]));
  }

  async #loadCommands(): Promise<readonly CliCommand[]> {
    const { cache, key } = this.#options;
    const cached = this.#mayUseCache ? await cache.recall(key) : undefined;
    if (cached !== undefined) return cached;
    this.#isDiscovering = true;
    try {
      return await this.#discover();
    } finally {
      this.#isDiscovering = false;
    }
  }

  async #discover(): Promise<readonly CliCommand[]> {
    const { cache, key, log, now, program, cli, args } = this.#options;
    const helpCommand = findHelpCommand(program.name, cli.help);
    await using folder = await createHelpFolder(helpCommand, cache.folder);
    const deadline = now() + (this.#options.discoveryMs ?? DISCOVERY_MS);
    const hasTime = (): boolean => now() < deadline;
    // The number of help texts that the program did not print in time.
    let silent = 0;
    const { commands, isCut } = await discoverCommands({
      program: program.name,
      words: program.words,
      helpCommand,
      depth: cli.depth,
      only: cli.only.map((line) => line.trim().split(/\s+/)),
      hasTime,
      readHelpText: async (helpArgs) => {
        const text = await this.#runHelp([...args, ...helpArgs], folder?.path);
        if (text === undefined) silent++;
        return text;
      },
    });
    this.#closing.throwIfCancelled();
    const fields = { program: program.name, tools: commands.length, silent };
    if (isCut)
      log.warn(
        'The help of a program was not read completely. Name the commands that you need in cli.only.',
        fields,
      );
    else log.debug('Read the help of a program.', fields);
    // A result that was cut at the deadline is not cached, because the next attempt may be complete. Other limits would cut it again.
    if (!isCut || hasTime()) await cache.remember(key, commands, { isDoubtful: silent > 0 });
    return commands;
  }

  /** Returns a help text, whatever the exit code. Programs write it to standard output or to standard error. */
  async #runHelp(argv: readonly string[], folder: string | undefined): Promise<string | undefined> {
    const { settings: setting, helpMs = HELP_MS } = this.#options;
    const cancellation = new Cancellation();
    const cancel = (reason: Error): void => cancellation.cancel(reason);
    this.#closing.onCancel(cancel);
    const timer = setTimeout(cancel, helpMs, new Error('The program did not print its help in time.'));
    try {
      const env = { ...setting.env, ...HELP_ENV };
      const helpSettings = { ...setting, cwd: folder ?? setting.cwd, env, onStderr: undefined };
      const limits = {
        cancellation,
        maxStdout: MAX_HELP_CHARS,
        maxStderr: MAX_HELP_CHARS,
        floodBytes: 16 * MAX_HELP_CHARS,
      };
      const { stdout, stderr } = await runProgram(helpSettings, argv, limits);
      const text = stdout.bytes.toString('utf8');
      return text.trim() === '' ? stderr.bytes.toString('utf8') : text;
    } catch {
      this.#closing.throwIfCancelled();
      return undefined; // The program was too slow, or it cannot be started, which a call will report.
    } finally {
      clearTimeout(timer);
      this.#closing.offCancel(cancel);
    }
  }
}

interface HelpFolder extends AsyncDisposable {
  readonly path: string;
}

/** Creates a temporary folder with the files that a program needs to print its help; returns undefined if it needs none or on failure. */
async function createHelpFolder({ files }: HelpCommand, parent: string): Promise<HelpFolder | undefined> {
  if (files === undefined) return undefined;
  let path: string | undefined;
  const remove = async (): Promise<void> => {
    if (path !== undefined) await rm(path, { recursive: true, force: true }).catch(() => {});
  };
  try {
    await makeFolder(parent, 0o700);
    path = await mkdtemp(join(parent, 'help-'));
    for (const [name, text] of Object.entries(files)) {
      const file = join(path, name);
      await makeFolder(name.endsWith('/') ? file : dirname(file));
      if (!name.endsWith('/')) await writeFile(file, text);
    }
    return { path, [Symbol.asyncDispose]: remove };
  } catch {
    await remove();
    return undefined; // Without the folder, at least a part of the help can be read.
  }
}

function failure(text: string): JsonObject {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Describes why a program cannot be started. Omits the command line, which may contain secrets. */
function describeStartError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'E2BIG') return 'the arguments are too long';
  if (code === 'ENOENT') return 'it was not found, or its "cwd" does not exist';
  return code === '' ? 'an unknown error' : code;
}
