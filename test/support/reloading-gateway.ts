import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, truncateSync, writeFileSync } from 'node:fs';

import { program } from './command.ts';
import { eventually } from './eventually.ts';
import { type GatewayOptions, type RunningGateway, startGateway } from './gateway.ts';
import type { RawClient } from './raw-client.ts';
import type { CommandOutcome } from './shared-home.ts';
import { SharedHome } from './shared-home.ts';
import { temporaryFolder } from './test-run.ts';

type Config = Readonly<Record<string, unknown>>;

/** The ways in which editors and programs replace a file. */
export const WRITE_METHODS: Readonly<Record<string, (file: string, text: string) => void>> = {
  'edited in place': (file, text) => writeFileSync(file, text),
  'replaced by another file': (file, text) => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  },
  'emptied and written again': (file, text) => {
    truncateSync(file, 0);
    for (const part of [text.slice(0, 20), text.slice(20)]) writeFileSync(file, part, { flag: 'a' });
  },
  'moved away and written anew': (file, text) => {
    renameSync(file, `${file}~`);
    writeFileSync(file, text);
  },
};

/** The parts of `trunkline status --json` that these tests use. */
export interface Status {
  readonly running: boolean;
  readonly pid: number;
  readonly configProblem?: { code: string; file: string; line?: number; column?: number; message: string };
  readonly needsRestart?: readonly string[];
  readonly servers: readonly { name: string; state: string; pid?: number; tools: number }[];
}

/** A gateway over HTTP whose configuration changes while it runs. */
export class ReloadingGateway implements AsyncDisposable {
  readonly gateway: RunningGateway;
  readonly home: SharedHome;
  readonly #clients: RawClient[] = [];

  private constructor(gateway: RunningGateway, home: SharedHome) {
    this.gateway = gateway;
    this.home = home;
  }

  static async start(config: Config, options: Partial<GatewayOptions> = {}): Promise<ReloadingGateway> {
    const home = temporaryFolder('r');
    const { mcpServers = {}, ...more } = config;
    const given = { mcpServers: mcpServers as Config, config: more, home, ...options };
    const gateway = await startGateway({ listen: 'http', ...given });
    return new ReloadingGateway(gateway, new SharedHome(given));
  }

  get file(): string {
    return this.gateway.configFile;
  }

  write(config: Config | string, way = WRITE_METHODS['edited in place']): void {
    way?.(this.file, typeof config === 'string' ? config : JSON.stringify(config, null, 2));
  }

  async client(options: Parameters<RunningGateway['client']>[0] = {}): Promise<RawClient> {
    const client = await this.gateway.client(options);
    this.#clients.push(client);
    return client;
  }

  command(...args: readonly string[]): Promise<CommandOutcome> {
    return this.home.command(...args);
  }

  async status(): Promise<Status> {
    const { stdout, stderr, code } = await this.command('status', '--json');
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Status;
  }

  /** Runs `trunkline login --token` with a token from standard input. */
  async login(server: string, token: string): Promise<void> {
    const { home } = this.home;
    const child = spawn(process.execPath, [program, 'login', server, '--token'], {
      env: { ...process.env, TRUNKLINE_HOME: home },
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    child.stdin.end(`${token}\n`);
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`login ended with ${code}.`);
  }

  /** Waits for the process of a server, and returns its id. */
  async waitForPid(name: string): Promise<number> {
    return eventually(
      async () => (await this.status()).servers.find((server) => server.name === name)?.pid ?? false,
      { what: `A process of ${name}`, withinMs: 15_000 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.gateway[Symbol.asyncDispose]();
    await this.home[Symbol.asyncDispose]();
  }
}

/** Returns the names of the listed tools, in order. */
export async function listToolNames(client: RawClient): Promise<readonly string[]> {
  return (await client.listTools()).map(({ name }) => name);
}

export function joinedTextOf(result: { content?: unknown }): string {
  return (result.content as { text: string }[]).map((part) => part.text).join('');
}

export const isToolListChange = ({ method }: { readonly method: string }): boolean =>
  method === 'notifications/tools/list_changed';
