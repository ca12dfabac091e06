import { openSignIns } from '../../app/signing-in/open-sign-ins.ts';
import type { ExitCode } from '../../model/errors.ts';
import { silentLogger } from '../../observe/log.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { foundConfig } from '../found-config.ts';

interface LogoutOptions extends GlobalOptions {
  readonly caller?: string;
}

const SAID = {
  revoked: (server: string) => `Signed out of ${server}; its tokens were revoked.`,
  forgotten: (server: string) =>
    `Signed out of ${server}. Its authorization server cannot revoke tokens; they end by themselves.`,
  'not-signed-in': (server: string) => `Nobody was signed in to ${server}.`,
};

export async function logout(
  options: LogoutOptions,
  context: CliContext,
  [server = '']: readonly string[],
): Promise<ExitCode> {
  const { file, text, stateDir } = await foundConfig(options.config, context);
  const { out } = context;
  const stopping = new AbortController();
  context.onStopSignal(() => stopping.abort());
  await using signIns = await openSignIns({ ...context, file, text, stateDir, log: silentLogger });
  const how = await signIns.signOut(server, options.caller ?? '', stopping.signal);
  if (out.style.format === 'json') out.json({ server, result: how });
  else out.line(SAID[how](server));
  return 0;
}
