import { dirname } from 'node:path';
import { attach } from '../../attach/attach.ts';
import type { AttachOptions } from '../../attach/attach.ts';
import { isAlive } from '../../attach/is-alive.ts';
import { Pipe } from '../../attach/pipe/pipe.ts';
import { startGateway } from '../../attach/start-gateway.ts';
import { profileProblem } from '../../app/profile-problem.ts';
import { loadConfig, readConfigAtStart } from '../../config/load.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import { foundConfig } from '../found-config.ts';
import type { FoundFor } from '../found-config.ts';
import { noteWaiting } from '../waiting-note.ts';
import type { ServeOptions } from './serve.ts';

const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/** A pipe between our client and the user's gateway; undefined when there can be no such gateway here. */
export async function serveAttached(
  options: ServeOptions,
  context: CliContext,
): Promise<ExitCode | undefined> {
  const found = await foundConfig(options.config, context, { isTold: false });
  // Where nothing can be written nobody can be found either; whoever serves instead says so.
  if (found.text !== undefined && found.isInline !== true) return undefined;
  const reach = async () => {
    // Read each time: when a gateway is lost, the configuration may be another than the one that its client came with.
    const { socket, notes } = await attach(await attachOptions(found, options, context));
    return { socket, notes };
  };
  let first: Awaited<ReturnType<typeof reach>>;
  try {
    first = await reach();
  } catch (error) {
    // What is wrong with the configuration is wrong wherever it is read.
    if (error instanceof GatewayError && (error.traits.exit === 3 || error.code === 'USAGE')) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    context.out.note(`Serving in this process alone. ${reason}`);
    return undefined;
  }
  for (const note of first.notes) context.out.note(note);
  const { stdin, stdout } = context;
  const pipe = new Pipe({
    ...{ stdin, stdout, maxMessageBytes: MAX_MESSAGE_BYTES, now: () => performance.now() },
    first: first.socket,
    connect: async () => (await reach()).socket,
  });
  context.onStopSignal(() => pipe.stop());
  noteWaiting(context);
  await pipe.ended;
  return 0;
}

export async function attachOptions(
  found: Omit<FoundFor, 'places'>,
  { expose, profile, logLevel }: Pick<ServeOptions, 'expose' | 'profile' | 'logLevel'>,
  { env, version, cwd, pid, program }: CliContext,
): Promise<AttachOptions> {
  const { file, stateDir, trustedIn, isInline } = found;
  const text = found.text ?? (await readConfigAtStart(file));
  const level = logLevel === undefined ? [] : ['--log-level', logLevel];
  const project = trustedIn === undefined ? [] : ['--project'];
  // It has our variables, and so the configuration that is in one.
  const config = isInline === true ? [] : ['--config', file];
  const args = ['serve', '--background', ...config, ...project, ...level];
  return {
    stateDir,
    identity: { version, config: file, text, env },
    hello: { expose, profile, cwd, pid },
    start: async () => {
      // One that runs answers for itself; none is started for a client that it would refuse.
      if (profile !== undefined) await checkProfile(profile, { file, text, version });
      await startGateway({ program, args, env, cwd: dirname(file), stateDir });
    },
    pid,
    isAlive,
    now: Date.now,
  };
}

async function checkProfile(profile: string, source: Parameters<typeof loadConfig>[0]): Promise<void> {
  const { value } = await loadConfig(source);
  const problem = profileProblem(profile, value);
  if (problem !== undefined) throw new GatewayError('USAGE', problem);
}
