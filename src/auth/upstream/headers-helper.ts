import type { UpstreamConfig } from '../../config/config.ts';
import { ProgramFailure, runForOutput } from '../../config/reference-command.ts';
import type { RunningPrograms } from '../../config/reference-command.ts';
import type { Credentials, Refusal } from '../../core/credentials.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';

interface HeadersHelperDeps {
  readonly config: UpstreamConfig;
  readonly helper: string | readonly string[];
  /** Returns the address of the upstream, with references resolved. */
  readonly url: () => Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly searchPath: () => Promise<string | undefined>;
  readonly running?: RunningPrograms | undefined;
}

type HeaderRecord = Readonly<Record<string, string>>;

/** The limit that Claude Code sets, for which these commands are written. */
const TIMEOUT_MS = 10_000;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The headers that the command of `headersHelper` prints. The command runs before the first request, and again after a refusal. */
export class HeadersHelper implements Credentials {
  readonly #deps: HeadersHelperDeps;
  #headers: HeaderRecord | undefined;
  #running: Promise<HeaderRecord> | undefined;
  #hasPrinted = false;
  /** When newer headers replaced the first ones, by `performance.now()`. */
  #replacedAt = 0;

  constructor(deps: HeadersHelperDeps) {
    this.#deps = deps;
  }

  headers(): HeaderRecord | Promise<HeaderRecord> {
    return this.#headers ?? this.#run();
  }

  async handleRefusal({ status, since, isRepeated }: Refusal): Promise<'try-again' | GatewayError> {
    // Another request may have replaced the headers after this one had started.
    if (this.#replacedAt > since && !isRepeated) return 'try-again';
    if (isRepeated)
      return this.#error(`the server still answers HTTP ${status} after the command was run again`);
    this.#headers = undefined;
    try {
      await this.#run();
      return 'try-again';
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }

  onSignedIn(): void {
    // These headers need no sign-in. The command runs again at the next connection.
  }

  [Symbol.dispose](): void {
    // The last request, which ends the session, still needs the headers.
  }

  #run(): Promise<HeaderRecord> {
    this.#running ??= this.#print().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #print(): Promise<HeaderRecord> {
    const { config, helper, url, env, home, searchPath, running } = this.#deps;
    const isShellLine = typeof helper === 'string';
    const [program = '', ...args] = isShellLine ? [helper] : helper;
    const server = { CLAUDE_CODE_MCP_SERVER_NAME: config.name, CLAUDE_CODE_MCP_SERVER_URL: await url() };
    const path = (await searchPath()) ?? env['PATH'];
    try {
      const environment = {
        env: { ...env, PATH: path, ...server },
        cwd: home,
        timeoutMs: TIMEOUT_MS,
        running,
      };
      const headers = readHeaders(await runForOutput(program, args, { ...environment, isShellLine }));
      // The first headers replace nothing: the request that ran the command was sent with them, so a refusal applies to them.
      if (this.#hasPrinted) this.#replacedAt = performance.now();
      this.#hasPrinted = true;
      this.#headers = headers;
      return headers;
    } catch (error) {
      if (error instanceof ProgramFailure) throw this.#error(`the command ${error.message}`);
      throw error;
    }
  }

  #error(problem: string): GatewayError {
    const { name } = this.#deps.config;
    return new GatewayError(
      'SECRET_MISSING',
      `The headersHelper of server "${name}" failed: ${problem}. To see why, run the command yourself; correct it with: trunkline edit ${quoteShellWord(name)}`,
      { details: { server: name, field: 'headersHelper' } },
    );
  }
}

function readHeaders(text: string): HeaderRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const entries = isJsonObject(value) ? Object.entries(value) : undefined;
  if (entries === undefined || !entries.every(isHeader))
    throw new ProgramFailure('did not print a JSON object of header names and values');
  return Object.fromEntries(entries) as HeaderRecord; // Every entry was just checked.
}

function isHeader([name, value]: readonly [string, unknown]): boolean {
  return HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value);
}
