import { randomUUID } from 'node:crypto';
import type { ConfigSnapshot } from '../../config/config.ts';
import { formatConfigName } from '../../config/file/inline-config.ts';
import type { ParkedCalls } from '../../downstream/questions/parked-calls.ts';
import type { AppOptions } from '../app-options.ts';
import { findProfileProblem } from '../find-profile-problem.ts';
import { IdleExit } from './idle-exit.ts';
import type { ClientListener, ConnectClient, ListenerDeps } from '../client-listeners.ts';
import { SocketServer } from './socket-server.ts';

/** Opens the socket on which the user's gateway serves pipes and commands. */
export async function openSocket(
  path: string,
  deps: ListenerDeps & {
    readonly options: AppOptions;
    readonly config: () => ConfigSnapshot;
    readonly connect: ConnectClient;
    readonly parked: ParkedCalls;
  },
): Promise<ClientListener> {
  const { options, config, connect, parked, admin, variables, log, onEnd } = deps;
  // A gateway in the foreground runs until the user stops it.
  const idle = new IdleExit({
    idleMs: () => (options.listen === 'socket' ? config().value.idleExitMs : undefined),
    onIdle: () => {
      log.info('Stopping, since no client is connected.');
      onEnd();
    },
  });
  // A background gateway has no terminal, so its log contains the warnings that each client receives when it connects.
  if (options.listen === 'socket')
    for (const { file, line, column, message } of config().warnings)
      log.warn('A part of the configuration is not used.', {
        file: `${file}:${line}:${column}`,
        reason: message,
      });
  const server = await SocketServer.open({
    path,
    platform: options.platform,
    admin,
    idle,
    variables,
    log,
    shutdownMs: () => config().value.shutdownMs,
    welcomeNotes: () => configNotes(config()),
    onRefresh: deps.reload,
    helloProblem: ({ profile }) => findProfileProblem(profile, config().value),
    onStop: onEnd,
    connect: (channel, { profile = 'default', expose }) =>
      connect({ id: 'local', via: 'stdio', profile }, channel, {
        endpoint: randomUUID(),
        isConnection: true,
        expose: parseExposeKind(expose),
      }),
  });
  return {
    url: undefined,
    clients: () => server.clientCount(),
    stopAccepting: () => {
      server.stopAccepting();
      parked.close();
    },
    drained: () => server.drained(),
    retire: () => idle.retire(),
    keepRunning: () => {
      idle.acquire();
      return { [Symbol.dispose]: () => idle.release() };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function configNotes({ value, warnings, file }: ConfigSnapshot): readonly string[] {
  const notes = warnings.map(
    ({ file: source, line, column, message }) => `${source}:${line}:${column}: ${message}`,
  );
  return value.upstreams.length > 0
    ? notes
    : [...notes, `No server can be used. Add servers to mcpServers in ${formatConfigName(file)}`];
}

function parseExposeKind(text: string | undefined): AppOptions['expose'] {
  return KINDS.find((kind) => kind === text);
}

const KINDS = ['auto', 'direct', 'search', 'code'] as const;
