import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { readClientVariables } from '../../app/shared-gateway/client-variables.ts';
import { findOrStartGateway } from '../../app/shared-gateway/find-or-start-gateway.ts';
import type { FindOrStartOptions } from '../../app/shared-gateway/find-or-start-gateway.ts';
import { isProcessAlive } from '../../core/lib/is-process-alive.ts';
import { StdioPipe } from '../../app/shared-gateway/pipe/stdio-pipe.ts';
import { startGateway } from '../../app/shared-gateway/start-gateway.ts';
import { findProfileProblem } from '../../app/find-profile-problem.ts';
import { loadConfig, readConfigAtStart } from '../../config/load-config.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import { locateConfig } from '../locate-config.ts';
import type { ConfigLocation } from '../locate-config.ts';
import { noteWaitingForClient } from '../note-waiting-for-client.ts';
import type { ServeOptions } from './serve.ts';

/** The maximum size of one JSON-RPC message between the client and the gateway. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/** Connects the client on standard input to the background gateway. Returns undefined if no background gateway can be used. */
export async function serveThroughSharedGateway(
  options: ServeOptions,
  context: CliContext,
): Promise<ExitCode | undefined> {
  const location = await locateConfig(options.config, context, { canWarn: false });
  // If the configuration cannot be written, a gateway cannot record its socket either. `serveInProcess` warns about it.
  if (location.text !== undefined && location.isTextFromEnvironment !== true) return undefined;
  const told = new Set<string>();
  const reach = async (replace?: 'never'): Promise<Duplex> => {
    // The options are created for every attempt, because the configuration may have changed before a reconnect.
    const findOrStart = await createFindOrStartOptions(location, options, context);
    const { socket, notes } = await findOrStartGateway({
      ...findOrStart,
      hello: { ...findOrStart.hello, replace },
    });
    for (const note of notes) {
      if (!told.has(note)) context.out.note(note);
      told.add(note);
    }
    return socket;
  };
  let firstGateway: Duplex;
  try {
    firstGateway = await reach();
  } catch (error) {
    // An invalid configuration or invalid usage would fail in this process, too.
    if (error instanceof GatewayError && (error.traits.exit === 3 || error.code === 'USAGE')) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    context.out.note(
      `The background gateway cannot be used, so this process serves the client itself. ${reason}`,
    );
    return undefined;
  }
  const { stdin, stdout } = context;
  const pipe = new StdioPipe({
    stdin,
    stdout,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    now: () => performance.now(),
    firstGateway,
    reconnect: () => reach('never'),
  });
  context.onStopSignal(() => pipe.stop());
  noteWaitingForClient(context);
  await pipe.ended;
  return 0;
}

export async function createFindOrStartOptions(
  location: Omit<ConfigLocation, 'locations'>,
  { expose, profile, logLevel }: Pick<ServeOptions, 'expose' | 'profile' | 'logLevel'>,
  { env, version, cwd, pid, program }: CliContext,
): Promise<FindOrStartOptions> {
  const { file, stateDir, trustDir, isTextFromEnvironment } = location;
  const text = location.text ?? (await readConfigAtStart(file));
  const level = logLevel === undefined ? [] : ['--log-level', logLevel];
  const project = trustDir === undefined ? [] : ['--project'];
  // An inline configuration is in the environment, which the gateway inherits, so it needs no --config.
  const config = isTextFromEnvironment === true ? [] : ['--config', file];
  const args = ['serve', '--background', ...config, ...project, ...level];
  return {
    stateDir,
    identity: { version, config: file, text },
    hello: { expose, profile, cwd, pid, variables: readClientVariables(text, env) },
    start: async () => {
      // Checks the profile before starting a gateway that would only reject it. A running gateway checks the profile itself.
      if (profile !== undefined) await checkProfile(profile, { file, text, version });
      await startGateway({ program, args, env, cwd: dirname(file), stateDir });
    },
    pid,
    isAlive: isProcessAlive,
    now: Date.now,
  };
}

async function checkProfile(profile: string, source: Parameters<typeof loadConfig>[0]): Promise<void> {
  const { value } = await loadConfig(source);
  const problem = findProfileProblem(profile, value);
  if (problem !== undefined) throw new GatewayError('USAGE', problem);
}
