import { openSignIns } from '../../app/open-sign-ins.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import { silentLogger } from '../../observability/log.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { locateConfig } from '../locate-config.ts';
import { openBrowser } from '../open-browser.ts';
import { readSecret } from '../read-secret.ts';
import { toOneLine } from '../sanitize.ts';

export interface LoginOptions extends GlobalOptions {
  readonly caller?: string;
  readonly device?: boolean;
  readonly token?: boolean;
  readonly fromMcpRemote?: boolean;
  readonly browser?: boolean;
  /** The maximum time for the sign-in, in seconds. */
  readonly timeout?: number;
}

/** Signs in to one server. A running gateway picks up the new token by itself. */
export async function runLogin(
  options: LoginOptions,
  context: CliContext,
  [server = '']: readonly string[],
): Promise<ExitCode> {
  const { file, text, stateDir } = await locateConfig(options.config, context);
  const { env, out, platform } = context;
  const stopping = new AbortController();
  context.onStopSignal(() =>
    stopping.abort(new GatewayError('CALL_CANCELLED', 'The sign-in was cancelled. Nothing was saved.')),
  );
  await using signIns = await openSignIns({ ...context, file, text, stateDir, log: silentLogger });
  const printSignedIn = async (account?: string): Promise<ExitCode> => {
    await signIns.forgetFailure(server);
    const suffix = account === undefined ? '' : ` as ${toOneLine(account)}`;
    if (out.style.format === 'json') out.json({ server, state: 'signed-in', account });
    else out.line(`Signed in to ${server}${suffix}.`);
    return 0;
  };
  if (options.fromMcpRemote === true) {
    await signIns.importMcpRemote(server, options.caller ?? '', stopping.signal);
    out.note(
      'Trunkline refreshes the tokens from now on. If you keep using mcp-remote, sign in again there.',
    );
    return await printSignedIn();
  }
  if (options.token === true) {
    const hint = await signIns.findTokenPage(server);
    const where = hint === undefined ? '' : ` Create one at ${hint}`;
    const prompt = `Paste the token and press Enter. It is not shown.${where}`;
    // The token is never an argument, because other users can read command lines.
    const token = await readSecret(context, { prompt, signal: stopping.signal });
    await signIns.saveToken(server, options.caller ?? '', token);
    return await printSignedIn();
  }
  const { account } = await signIns.signIn({
    server,
    caller: options.caller ?? '',
    flow: options.device === true ? 'device' : undefined,
    timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
    signal: stopping.signal,
    open: async (url) => {
      const isOpened = options.browser !== false && (await openBrowser(url, { env, platform }));
      out.note(
        isOpened
          ? 'Sign in using the browser window that opened. If none did, open this URL:'
          : 'Open this URL in a browser on this machine:',
      );
      out.note(`\n  ${url.href}\n`);
    },
    show: ({ url, code, complete }) => {
      out.note(`Open ${toOneLine(url)} in any browser and enter the code ${toOneLine(code)}`);
      if (complete !== undefined) out.note(`Or open ${toOneLine(complete)}`);
    },
  });
  return await printSignedIn(account);
}
