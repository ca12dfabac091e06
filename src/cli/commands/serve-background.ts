import { closeSync, writeSync } from 'node:fs';
import { startApp } from '../../app/app.ts';
import { gatewayLog, READY_DESCRIPTOR, readyLine } from '../../attach/start-gateway.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import { jsonLogger } from '../../observe/log.ts';
import { RotatingFile } from '../../observe/rotating-file.ts';
import { appWorld } from '../app-world.ts';
import type { CliContext } from '../context.ts';
import { foundConfig } from '../found-config.ts';
import { userSocket } from '../line/user-socket.ts';
import type { ServeOptions } from './serve.ts';

/** The user's gateway: it outlives whoever started it, and says once whether it listens. */
export async function serveBackground(options: ServeOptions, context: CliContext): Promise<ExitCode> {
  try {
    const { file, text, isInline, stateDir, places } = await foundConfig(options.config, context);
    const log = new RotatingFile(gatewayLog(stateDir));
    const app = await startApp({
      ...{ ...appWorld(context), file, text, isInline, stateDir },
      trustedIn: options.project === true ? places.stateDir : undefined,
      http: undefined,
      listen: 'socket',
      socket: userSocket(stateDir, context),
      expose: undefined,
      onStopSignal: context.onStopSignal,
      logger: (configured) =>
        jsonLogger({ level: options.logLevel ?? configured, write: (line) => log.write(line) }),
    });
    tell(readyLine());
    await app.stopped;
    return 0;
  } catch (error) {
    const problem =
      error instanceof GatewayError
        ? error
        : new GatewayError('GATEWAY_UNAVAILABLE', String(error), { cause: error });
    tell(readyLine(problem));
    return problem.traits.exit;
  }
}

/** Best effort: whoever started us may not wait any more. */
function tell(line: string): void {
  try {
    writeSync(READY_DESCRIPTOR, line);
    closeSync(READY_DESCRIPTOR);
  } catch {
    // Nobody is there to be told.
  }
}
