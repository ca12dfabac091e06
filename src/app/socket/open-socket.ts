import { randomUUID } from 'node:crypto';
import type { ConfigSnapshot } from '../../config/config.ts';
import { shownConfig } from '../../config/file/inline.ts';
import type { ParkedCalls } from '../../downstream/parked-calls.ts';
import type { AppOptions } from '../app-options.ts';
import { profileProblem } from '../profile-problem.ts';
import { IdleExit } from './idle-exit.ts';
import type { Connect, Front, FrontDeps } from '../open-front.ts';
import { SocketFront } from './socket-front.ts';

/** The socket on which the user's gateway serves pipes and commands. */
export async function openSocket(
  path: string,
  deps: FrontDeps & {
    readonly options: AppOptions;
    readonly config: () => ConfigSnapshot;
    readonly connect: Connect;
    readonly parked: ParkedCalls;
  },
): Promise<Front> {
  const { options, config, connect, parked, admin, log, onEnd } = deps;
  // What a person started in the foreground ends when that person says so.
  const idle = new IdleExit({
    idleMs: () => (options.listen === 'socket' ? config().value.idleExitMs : undefined),
    onIdle: () => {
      log.info('Ending, since no client is here.');
      onEnd();
    },
  });
  // Those who come later are told, too; whoever reads the log has nobody else to ask.
  if (options.listen === 'socket')
    for (const { file, line, column, message } of config().warnings)
      log.warn('Something in the configuration is not used.', {
        file: `${file}:${line}:${column}`,
        reason: message,
      });
  const front = await SocketFront.open({
    ...{ path, platform: options.platform, admin, idle, log },
    shutdownMs: () => config().value.shutdownMs,
    notes: () => notesOf(config()),
    onRefresh: deps.reload,
    wrong: ({ profile }) => profileProblem(profile, config().value),
    onStop: onEnd,
    connect: (channel, { profile = 'default', expose }) =>
      connect({ id: 'local', via: 'stdio', profile }, channel, {
        place: randomUUID(),
        isConnection: true,
        expose: exposeKind(expose),
      }),
  });
  return {
    url: undefined,
    clients: () => front.clients(),
    stopAccepting: () => {
      front.stopAccepting();
      parked.close();
    },
    drained: () => front.drained(),
    retire: () => idle.retire(),
    stay: () => {
      idle.enter();
      return { [Symbol.dispose]: () => idle.leave() };
    },
    [Symbol.asyncDispose]: () => front[Symbol.asyncDispose](),
  };
}

function notesOf({ value, warnings, file }: ConfigSnapshot): readonly string[] {
  const notes = warnings.map(({ file: at, line, column, message }) => `${at}:${line}:${column}: ${message}`);
  return value.upstreams.length > 0
    ? notes
    : [...notes, `No server can be used; add some to mcpServers in ${shownConfig(file)}`];
}

function exposeKind(text: string | undefined): AppOptions['expose'] {
  return KINDS.find((kind) => kind === text);
}

const KINDS = ['auto', 'direct', 'search', 'code'] as const;
