import { startApp } from '../../app/app.ts';
import { locations } from '../../config/paths.ts';
import { wrapConfig } from '../../config/wrap.ts';
import { GatewayError, errorTable } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import { jsonLogger } from '../../observe/log.ts';
import type { LogLevel } from '../../observe/log.ts';
import { appWorld } from '../app-world.ts';
import type { CliContext } from '../context.ts';
import type { AdHocOptions } from '../declare.ts';
import { adHocServer, withHeaders } from '../line/on-line.ts';
import { logTo } from '../output.ts';

interface WrapOptions extends AdHocOptions {
  readonly logLevel?: LogLevel;
}

/** One server, as if its client had started it itself, but answered from what it said the last time until it is there. */
export async function wrap(options: WrapOptions, context: CliContext): Promise<ExitCode> {
  const server = adHocServer(options);
  if (server === undefined)
    throw new GatewayError('USAGE', 'Say what to wrap: trunkline wrap -- COMMAND ARGS…, or --url URL.');
  const { env } = withHeaders(context, options.header ?? []);
  const { readClient } = await import('../../app/read-client.ts');
  const { client, stdin } = await readClient(context.stdin);
  const places = locations(context);
  const config = wrapConfig(server, { cwd: context.cwd, env: context.env, places, client });
  const { stderr } = context;
  const app = await startApp({
    ...{ ...appWorld(context), env, stdin },
    ...{ file: config.file, text: config.text, stateDir: config.stateDir },
    http: undefined,
    expose: undefined,
    onStopSignal: context.onStopSignal,
    wrapped: { name: config.name, client, onStderr: (chunk) => void stderr.write(chunk) },
    logger: () => jsonLogger({ level: options.logLevel ?? 'warn', write: logTo(stderr) }),
  });
  if (app.gateway.status().length === 0) {
    app.stop();
    await app.stopped;
    throw new GatewayError('USAGE', app.warnings[0]?.message ?? 'This is no server.');
  }
  // A server that was never there is a failure of the command; one that ended after it had served is not.
  let exit: ExitCode = 0;
  void app.gateway.discovered.then(() => {
    const [status] = app.gateway.status();
    if (status?.listedAt === undefined && status?.problem !== undefined)
      exit = errorTable[status.problem.code].exit;
  });
  await app.stopped;
  return exit;
}
