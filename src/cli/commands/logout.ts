import { openSignIns } from '../../app/open-sign-ins.ts';
import type { ExitCode } from '../../core/errors.ts';
import { silentLogger } from '../../observability/log.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { locateConfig } from '../locate-config.ts';

interface LogoutOptions extends GlobalOptions {
  readonly caller?: string;
}

const RESULT_TEXTS = {
  revoked: (server: string) => `Signed out of ${server}. Its tokens were revoked.`,
  forgotten: (server: string) =>
    `Signed out of ${server}. Its authorization server cannot revoke tokens, so they stay valid until they expire.`,
  'not-signed-in': (server: string) => `There was no sign-in to ${server}.`,
};

export async function runLogout(
  options: LogoutOptions,
  context: CliContext,
  [server = '']: readonly string[],
): Promise<ExitCode> {
  const { file, text, stateDir } = await locateConfig(options.config, context);
  const { out } = context;
  const stopping = new AbortController();
  context.onStopSignal(() => stopping.abort());
  await using signIns = await openSignIns({ ...context, file, text, stateDir, log: silentLogger });
  const result = await signIns.signOut(server, options.caller ?? '', stopping.signal);
  if (out.style.format === 'json') out.json({ server, result });
  else out.line(RESULT_TEXTS[result](server));
  return 0;
}
