import { dirname } from 'node:path';
import { adminClient } from '../../admin/client.ts';
import type { AdminClient, Send } from '../../admin/client.ts';
import type { AppOptions } from '../../app/app-options.ts';
import type { AdHocServer } from '../../config/ad-hoc.ts';
import { readRecord } from '../../attach/gateway-record.ts';
import { locations } from '../../config/paths.ts';
import { isTrusted } from '../../config/file/trust.ts';
import type { Caller } from '../../model/caller.ts';
import { jsonLogger } from '../../observe/log.ts';
import type { LogLevel } from '../../observe/log.ts';
import { appWorld } from '../app-world.ts';
import type { CliContext } from '../context.ts';
import { foundConfig } from '../found-config.ts';
import type { FoundFor } from '../found-config.ts';
import { lineToRecord } from './line-to-record.ts';
import { logTo } from '../output.ts';

export interface LineOptions {
  /** Of `--config`. */
  readonly config?: string | undefined;
  /** Servers of the command line, instead of any configuration. */
  readonly servers?: readonly AdHocServer[] | undefined;
  /** How much is said on standard error; `error` unless told, since a command reports its own troubles. */
  readonly logLevel?: LogLevel | undefined;
  /** `any`: the gateway of this file is asked whatever our environment is; `same`, unless told: only one that we would be ourselves. */
  readonly reach?: 'any' | 'same' | undefined;
}

/** The way of a command to a gateway; both ways give the same answers. */
export interface Line extends AsyncDisposable {
  readonly client: AdminClient;
  /** `gateway`: one that was running already; `own`: one in this process, for this command. */
  readonly to: 'gateway' | 'own';
  /** The configuration in use; of servers of the command line a file that does not exist. */
  readonly config: string;
}

const CALLER: Caller = { id: 'cli', via: 'cli', profile: 'default' };

/**
 * Opens a line to the running gateway of this configuration, or to one that is started in this process without
 * listeners: it starts only those servers that the question needs, and uses cached listings where there are any.
 */
export async function openLine(context: CliContext, options: LineOptions = {}): Promise<Line> {
  if (options.servers !== undefined) {
    const { adHocConfig } = await import('../../config/ad-hoc.ts');
    const adHoc = adHocConfig(options.servers, { cwd: context.cwd, places: locations(context) });
    return ownLine(context, options, adHoc);
  }
  const found = await foundConfig(options.config, context, { isReached: true });
  return (await gatewayLine(context, found, options.reach)) ?? ownLine(context, options, found);
}

/** To the gateway of this file, if it runs. */
async function gatewayLine(
  { version, env }: CliContext,
  found: FoundFor,
  reach: LineOptions['reach'] = 'same',
): Promise<Line | undefined> {
  const { file, stateDir, trustedIn } = found;
  if (readRecord(stateDir) === undefined) return undefined;
  const [{ runningGateway }, { loadConfig, readConfigText }] = await Promise.all([
    import('../../attach/running-gateway.ts'),
    import('../../config/load.ts'),
  ]);
  const text = found.text ?? (await readConfigText(file).catch(() => undefined)); // Whoever would have to serve it tells what is wrong.
  const same =
    text === undefined ? undefined : await runningGateway(stateDir, { version, config: file, text, env });
  const record = same ?? readRecord(stateDir);
  if (record === undefined || record.config !== file) return undefined;
  if (same !== undefined || reach === 'any') return (await lineToRecord(record))?.line;
  // It goes on with what the file said before, and nobody else can use the file as it is.
  const isUsable = await isUsableNow();
  return isUsable ? undefined : (await lineToRecord(record))?.line;

  async function isUsableNow(): Promise<boolean> {
    try {
      await loadConfig({ file, text: found.text, version });
      return trustedIn === undefined || (await isTrusted(file, trustedIn));
    } catch {
      return false;
    }
  }
}

async function ownLine(
  context: CliContext,
  { logLevel = 'error' }: LineOptions,
  config: Pick<AppOptions, 'file' | 'text' | 'isInline' | 'stateDir' | 'trustedIn'>,
): Promise<Line> {
  const { startApp } = await import('../../app/app.ts');
  const { file, text, isInline, stateDir, trustedIn } = config;
  const { stderr } = context;
  const app = await startApp({
    ...{ ...appWorld(context), file, text, isInline, stateDir, trustedIn },
    http: undefined,
    // Where the gateway in the background would run them.
    folder: dirname(file),
    expose: undefined,
    listen: 'nobody',
    logger: () => jsonLogger({ level: logLevel, write: logTo(stderr) }),
  });
  const routes = await app.admin();
  const send: Send = (request) => unlessGivenUp(routes.fetch(request, CALLER), request.signal);
  return {
    client: adminClient(send),
    to: 'own',
    config: file,
    async [Symbol.asyncDispose]() {
      app.stop();
      await app.stopped;
    },
  };
}

/** As over a socket, nobody waits for an answer that was given up; what it was for ends with the line. */
function unlessGivenUp(answer: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
