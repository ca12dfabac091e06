import { startApp } from '../../app/app.ts';
import { resolveLocations } from '../../config/find-config.ts';
import { createWrapConfig } from '../../config/wrap-config.ts';
import { GatewayError, errorTable } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import { createJsonLogger } from '../../observability/log.ts';
import type { LogLevel } from '../../observability/log.ts';
import { toAppEnvironment } from '../app-environment.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { readAdHocServer, withHeaderVariables } from '../gateway-client/with-gateway.ts';
import { createLogWriter } from '../output.ts';

interface WrapOptions extends AdHocOptions {
  readonly logLevel?: LogLevel;
}

/** Serves one server as if the client had started it. Until the server has started, answers listings from the cache. */
export async function runWrap(options: WrapOptions, context: CliContext): Promise<ExitCode> {
  const server = readAdHocServer(options);
  if (server === undefined)
    throw new GatewayError(
      'USAGE',
      'The server to wrap is missing. Run: trunkline wrap -- COMMAND ARGS…, or: trunkline wrap --url URL',
    );
  const { env } = withHeaderVariables(context, options.header ?? []);
  const { readClientDescription } = await import('../../app/read-client-description.ts');
  const { client, stdin } = await readClientDescription(context.stdin);
  const locations = resolveLocations(context);
  const config = createWrapConfig(server, { cwd: context.cwd, env: context.env, locations, client });
  const { stderr } = context;
  const app = await startApp({
    ...toAppEnvironment(context),
    env,
    stdin,
    file: config.file,
    text: config.text,
    stateDir: config.stateDir,
    http: undefined,
    expose: undefined,
    onStopSignal: context.onStopSignal,
    wrapped: { name: config.name, client, onStderr: (chunk) => void stderr.write(chunk) },
    logger: () => createJsonLogger({ level: options.logLevel ?? 'warn', write: createLogWriter(stderr) }),
  });
  if (app.gateway.status().length === 0) {
    app.stop();
    await app.stopped;
    throw new GatewayError('USAGE', app.warnings[0]?.message ?? 'The server cannot be used.');
  }
  // The command fails if the server never started. A server that ends later is not a failure.
  let exit: ExitCode = 0;
  void app.gateway.firstListing.then(() => {
    const [status] = app.gateway.status();
    if (status?.listedAt === undefined && status?.problem !== undefined)
      exit = errorTable[status.problem.code].exit;
  });
  await app.stopped;
  context.limitFlush();
  return exit;
}
