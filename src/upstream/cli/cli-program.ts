import type { CliConfig } from '../../config/config.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Logger } from '../../observe/log.ts';
import { RPC } from '../../wire/era.ts';
import { buildArgv, UnfitArguments } from './build-argv.ts';
import { callResult } from './call-result.ts';
import type { CliCommand } from './cli-command.ts';
import type { CliBackend } from './cli-server.ts';
import { discover } from './discover.ts';
import type { DiscoveryCache, DiscoveryKey } from './discovery-cache.ts';
import { helpFolder } from './help/help-folder.ts';
import { helpCall } from './help/known-programs.ts';
import { MAX_HELP_CHARS } from './help/plain-text.ts';
import { presetTools } from './preset-tools.ts';
import type { ProgramName } from './program-name.ts';
import { runProgram } from './run-program.ts';
import type { ProgramSetting } from './run-program.ts';
import { toolsOf } from './tool-of-command.ts';
import type { CliTool } from './tool-of-command.ts';

export interface CliProgramOptions {
  readonly setting: ProgramSetting;
  /** Fixed arguments, revealed. */
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

const HELP_MS = 10_000;
const DISCOVERY_MS = 60_000;
const MAX_STDERR = 64 * 1024;
/** English, wide, in one piece and without anybody who turns pages. */
const FOR_HELP = { LC_ALL: 'C.UTF-8', LANGUAGE: '', COLUMNS: '160', LINES: '10000' };

/** One program whose subcommands are tools. */
export class CliProgram implements CliBackend {
  readonly #options: CliProgramOptions;
  readonly #closing = new Cancellation();
  #tools: Promise<ReadonlyMap<string, CliTool>> | undefined;
  #isRecalled = true;
  #isReading = false;

  constructor(options: CliProgramOptions) {
    this.#options = options;
  }

  get info(): JsonObject {
    const { name, words } = this.#options.program;
    return { name: [name, ...words].join(' '), version: '0' };
  }

  async list(): Promise<readonly JsonObject[]> {
    return [...(await this.#found()).values()].map(({ definition }) => definition);
  }

  async call(name: string, args: JsonObject, cancellation: Cancellation): Promise<JsonObject> {
    const tool = (await this.#found()).get(name);
    if (tool === undefined) throw new RpcError({ code: RPC.invalidParams, message: `Unknown tool: ${name}` });
    let argv: readonly string[];
    try {
      argv = buildArgv(tool, args);
    } catch (error) {
      if (error instanceof UnfitArguments) return failure(error.message);
      throw error;
    }
    const { setting, cli } = this.#options;
    try {
      const limits = {
        cancellation,
        maxStdout: cli.maxOutput,
        maxStderr: Math.min(MAX_STDERR, cli.maxOutput),
      };
      return callResult(await runProgram(setting, argv, limits));
    } catch (error) {
      cancellation.throwIfCancelled();
      return failure(`The program cannot be started: ${startProblem(error)}.`);
    }
  }

  forget(): void {
    if (this.#isReading) return; // That is as new as can be.
    this.#isRecalled = false;
    this.#tools = undefined;
  }

  async close(): Promise<void> {
    this.#closing.cancel(new GatewayError('SHUTTING_DOWN', 'The connection was closed.'));
    await this.#tools?.catch(() => {});
  }

  #found(): Promise<ReadonlyMap<string, CliTool>> {
    this.#tools ??= this.#find().catch((error: unknown) => {
      this.#tools = undefined;
      throw error;
    });
    return this.#tools;
  }

  async #find(): Promise<ReadonlyMap<string, CliTool>> {
    const { program, args, cli } = this.#options;
    const tools =
      cli.tools.length > 0
        ? presetTools(program.name, args, cli.tools)
        : toolsOf(program, args, await this.#commands());
    return new Map(tools.map((tool) => [tool.definition.name, tool]));
  }

  async #commands(): Promise<readonly CliCommand[]> {
    const { cache, key } = this.#options;
    const remembered = this.#isRecalled ? await cache.recall(key) : undefined;
    if (remembered !== undefined) return remembered;
    this.#isReading = true;
    try {
      return await this.#read();
    } finally {
      this.#isReading = false;
    }
  }

  async #read(): Promise<readonly CliCommand[]> {
    const { cache, key, log, now, program, cli, args } = this.#options;
    const call = helpCall(program.name, cli.help);
    await using folder = await helpFolder(call, cache.folder);
    const until = now() + (this.#options.discoveryMs ?? DISCOVERY_MS);
    const hasTime = (): boolean => now() < until;
    let silent = 0;
    const { commands, isCut } = await discover({
      program: program.name,
      words: program.words,
      call,
      depth: cli.depth,
      only: cli.only.map((line) => line.trim().split(/\s+/)),
      hasTime,
      ask: async (help) => {
        const text = await this.#help([...args, ...help], folder?.path);
        if (text === undefined) silent++;
        return text;
      },
    });
    this.#closing.throwIfCancelled();
    const facts = { program: program.name, tools: commands.length, silent };
    if (isCut)
      log.warn('The help of a program was not read to its end; name what you need in cli.only.', facts);
    else log.debug('Read the help of a program.', facts);
    // What failed for want of time may succeed next time.
    if (!isCut || hasTime()) await cache.remember(key, commands, { isDoubtful: silent > 0 });
    return commands;
  }

  /** Programs write help to either side, and some call it a failure. */
  async #help(argv: readonly string[], folder: string | undefined): Promise<string | undefined> {
    const { setting, helpMs = HELP_MS } = this.#options;
    const cancellation = new Cancellation();
    const give = (reason: Error): void => cancellation.cancel(reason);
    this.#closing.onCancel(give);
    const timer = setTimeout(give, helpMs, new Error('The program said nothing in time.'));
    try {
      const env = { ...setting.env, ...FOR_HELP };
      const quiet = { ...setting, cwd: folder ?? setting.cwd, env, onStderr: undefined };
      const limits = {
        cancellation,
        maxStdout: MAX_HELP_CHARS,
        maxStderr: MAX_HELP_CHARS,
        floodBytes: 16 * MAX_HELP_CHARS,
      };
      const { stdout, stderr } = await runProgram(quiet, argv, limits);
      const text = stdout.bytes.toString('utf8');
      return text.trim() === '' ? stderr.bytes.toString('utf8') : text;
    } catch {
      this.#closing.throwIfCancelled();
      return undefined; // Too slow, or it cannot be started: then the call says so.
    } finally {
      clearTimeout(timer);
      this.#closing.offCancel(give);
    }
  }
}

function failure(text: string): JsonObject {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Without the command line, which may hold secrets. */
function startProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'E2BIG') return 'the arguments are too long';
  if (code === 'ENOENT') return 'it was not found, or its "cwd" does not exist';
  return code === '' ? 'it failed at once' : code;
}
