import { dirname } from 'node:path';
import { createAdminClient } from '../../admin/admin-client.ts';
import type { AdminClient, SendRequest } from '../../admin/admin-client.ts';
import type { AppOptions } from '../../app/app-options.ts';
import type { AdHocServer } from '../../config/ad-hoc-config.ts';
import { findGatewayRecord } from '../../app/shared-gateway/gateway-record.ts';
import { resolveLocations } from '../../config/find-config.ts';
import { isTrusted } from '../../config/file/config-trust.ts';
import type { Caller } from '../../core/caller.ts';
import { createJsonLogger } from '../../observability/log.ts';
import type { LogLevel } from '../../observability/log.ts';
import { toAppEnvironment } from '../app-environment.ts';
import type { CliContext } from '../context.ts';
import { locateConfig } from '../locate-config.ts';
import type { ConfigLocation } from '../locate-config.ts';
import { createLogWriter } from '../output.ts';
import { connectToRecord } from './reachable-gateways.ts';

export interface GatewayConnectionOptions {
  /** The value of `--config`. */
  readonly config?: string | undefined;
  /** Servers given on the command line. They replace the configuration. */
  readonly servers?: readonly AdHocServer[] | undefined;
  /** A configuration that is not saved. It is used in this process, whether a gateway runs or not. */
  readonly draft?: Pick<ConfigLocation, 'file' | 'text' | 'stateDir'> | undefined;
  /** The log level of an in-process gateway. The default is `error`, because a command reports its own problems. */
  readonly logLevel?: LogLevel | undefined;
  /**
   * `matching` (the default) uses a running gateway only if its version and configuration text match, and brings it the variables of this
   * shell. `any` uses it in any case, and brings none.
   */
  readonly gateway?: 'any' | 'matching' | undefined;
  /** Starts a background gateway if none runs. If this returns undefined, the command runs a gateway in its own process. */
  readonly startGateway?: ((location: ConfigLocation) => Promise<GatewayConnection | undefined>) | undefined;
}

/** Connects a command to a gateway. A running gateway and an in-process one give the same answers. */
export interface GatewayConnection extends AsyncDisposable {
  readonly client: AdminClient;
  /** `running`: the gateway was running before the command; `in-process`: the command started it in its own process. */
  readonly target: 'running' | 'in-process';
  /** The path of the configuration in use. For servers given on the command line, this file does not exist. */
  readonly config: string;
}

const CALLER: Caller = { id: 'cli', via: 'cli', profile: 'default' };

/**
 * Connects to the running gateway of this configuration. If none runs, starts one in this process without listeners, which
 * uses cached listings and starts only the servers that a request needs.
 */
export async function openGatewayConnection(
  context: CliContext,
  options: GatewayConnectionOptions = {},
): Promise<GatewayConnection> {
  if (options.servers !== undefined) {
    const { createAdHocConfig } = await import('../../config/ad-hoc-config.ts');
    const adHoc = createAdHocConfig(options.servers, {
      cwd: context.cwd,
      locations: resolveLocations(context),
    });
    return startInProcessGateway(context, options, adHoc);
  }
  if (options.draft !== undefined) return startInProcessGateway(context, options, options.draft);
  const location = await locateConfig(options.config, context, { isGatewayEnough: true });
  return (
    (await connectToRunningGateway(context, location, options.gateway)) ??
    (await options.startGateway?.(location)) ??
    startInProcessGateway(context, options, location)
  );
}

/**
 * Connects to the running gateway of this file; returns undefined if none answers. A gateway that was started with another version or
 * configuration text is used only if `gateway` is `any`, or if the command cannot use the file at present.
 */
async function connectToRunningGateway(
  context: CliContext,
  location: ConfigLocation,
  gateway: GatewayConnectionOptions['gateway'] = 'matching',
): Promise<GatewayConnection | undefined> {
  const { version, out } = context;
  const { file, stateDir, trustDir } = location;
  if (findGatewayRecord(stateDir) === undefined) return undefined;
  const [{ findRunningGateway }, { loadConfig, readConfigText }] = await Promise.all([
    import('../../app/shared-gateway/find-running-gateway.ts'),
    import('../../config/load-config.ts'),
  ]);
  // A read error is ignored here, because startInProcessGateway reports it.
  const text = location.text ?? (await readConfigText(file).catch(() => undefined));
  const identity = text === undefined ? undefined : { version, config: file, text };
  const matching = identity && (await findRunningGateway(stateDir, identity));
  const record = matching ?? findGatewayRecord(stateDir);
  if (record === undefined || record.config !== file) return undefined;
  if (identity !== undefined && matching !== undefined && gateway === 'matching') {
    const { sendShellVariables } = await import('./send-shell-variables.ts');
    const differences = await sendShellVariables(record, { identity, purpose: 'offer' }, context);
    for (const { problem, fix } of differences) out.note(`${problem} ${fix}`);
  }
  if (matching !== undefined || gateway === 'any') return (await connectToRecord(record))?.connection;
  // If the file is now invalid or untrusted, the running gateway, which still uses the last valid content, is the only choice.
  const isUsable = await isUsableNow();
  return isUsable ? undefined : (await connectToRecord(record))?.connection;

  async function isUsableNow(): Promise<boolean> {
    try {
      await loadConfig({ file, text: location.text, version });
      return trustDir === undefined || (await isTrusted(file, trustDir));
    } catch {
      return false;
    }
  }
}

async function startInProcessGateway(
  context: CliContext,
  { logLevel = 'error' }: GatewayConnectionOptions,
  config: Pick<AppOptions, 'file' | 'text' | 'isTextFromEnvironment' | 'stateDir' | 'trustDir'>,
): Promise<GatewayConnection> {
  const { startApp } = await import('../../app/app.ts');
  const { file, text, isTextFromEnvironment, stateDir, trustDir } = config;
  const { stderr } = context;
  const app = await startApp({
    ...toAppEnvironment(context),
    file,
    text,
    isTextFromEnvironment,
    stateDir,
    trustDir,
    http: undefined,
    // Servers start in the same folder as under the background gateway.
    workingDir: dirname(file),
    expose: undefined,
    listen: 'none',
    logger: () => createJsonLogger({ level: logLevel, write: createLogWriter(stderr) }),
  });
  const routes = await app.admin();
  const send: SendRequest = (request) => rejectOnAbort(routes.fetch(request, CALLER), request.signal);
  return {
    client: createAdminClient(send),
    target: 'in-process',
    config: file,
    async [Symbol.asyncDispose]() {
      app.stop();
      await app.stopped;
    },
  };
}

/** Rejects when the request is aborted, as a request over a socket does. The work itself ends when the connection is closed. */
function rejectOnAbort(answer: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
