import { closeSync, writeSync } from 'node:fs';
import { startApp } from '../../app/app.ts';
import { gatewayLogPath, READY_DESCRIPTOR, readyLine } from '../../app/shared-gateway/start-gateway.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import { createJsonLogger } from '../../observability/log.ts';
import { RotatingFile } from '../../observability/rotating-file.ts';
import { toAppEnvironment } from '../app-environment.ts';
import type { CliContext } from '../context.ts';
import { locateConfig } from '../locate-config.ts';
import { createUserSocketPath } from '../gateway-client/user-socket-path.ts';
import type { ServeOptions } from './serve.ts';

/**
 * Runs the background gateway, which outlives the process that started it. Tells that process once whether the gateway listens or has
 * failed to start.
 */
export async function serveBackground(options: ServeOptions, context: CliContext): Promise<ExitCode> {
  try {
    const { file, text, isTextFromEnvironment, stateDir, locations } = await locateConfig(
      options.config,
      context,
    );
    const log = new RotatingFile(gatewayLogPath(stateDir));
    const app = await startApp({
      ...toAppEnvironment(context),
      file,
      text,
      isTextFromEnvironment,
      stateDir,
      trustDir: options.project === true ? locations.stateDir : undefined,
      http: undefined,
      listen: 'socket',
      socket: createUserSocketPath(stateDir, context),
      expose: undefined,
      onStopSignal: context.onStopSignal,
      logger: (configured) =>
        createJsonLogger({ level: options.logLevel ?? configured, write: (line) => log.write(line) }),
    });
    signalReadiness(readyLine());
    await app.stopped;
    return 0;
  } catch (error) {
    const problem =
      error instanceof GatewayError
        ? error
        : new GatewayError('GATEWAY_UNAVAILABLE', String(error), { cause: error });
    signalReadiness(readyLine(problem));
    return problem.traits.exit;
  }
}

/** Signals readiness or a startup error on a file descriptor that the starting process reads. */
function signalReadiness(line: string): void {
  try {
    writeSync(READY_DESCRIPTOR, line);
    closeSync(READY_DESCRIPTOR);
  } catch {
    // The starting process no longer waits.
  }
}
