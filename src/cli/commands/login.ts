import { openSignIns } from '../../app/signing-in/open-sign-ins.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import { silentLogger } from '../../observe/log.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { foundConfig } from '../found-config.ts';
import { openBrowser } from '../open-browser.ts';
import { readSecret } from '../read-secret.ts';

export interface LoginOptions extends GlobalOptions {
  readonly caller?: string;
  readonly device?: boolean;
  readonly token?: boolean;
  readonly fromMcpRemote?: boolean;
  readonly browser?: boolean;
  /** Seconds. */
  readonly timeout?: number;
}

/** Signs in to one server; a gateway that runs notices by itself. */
export async function login(
  options: LoginOptions,
  context: CliContext,
  [server = '']: readonly string[],
): Promise<ExitCode> {
  const { file, text, stateDir } = await foundConfig(options.config, context);
  const { env, out, platform } = context;
  const stopping = new AbortController();
  context.onStopSignal(() =>
    stopping.abort(new GatewayError('CALL_CANCELLED', 'Stopped; nothing was saved.')),
  );
  await using signIns = await openSignIns({ ...context, file, text, stateDir, log: silentLogger });
  const tell = (account?: string): ExitCode => {
    const who = account === undefined ? '' : ` as ${account}`;
    if (out.style.format === 'json')
      out.json({ server, state: 'signed-in', ...(account !== undefined && { account }) });
    else out.line(`Signed in to ${server}${who}.`);
    return 0;
  };
  if (options.fromMcpRemote === true) {
    await signIns.importMcpRemote(server, options.caller ?? '', stopping.signal);
    out.note(
      'From now on the tokens are renewed here; mcp-remote has to sign in again where it is still used.',
    );
    return tell();
  }
  if (options.token === true) {
    const hint = await signIns.hint(server);
    const where = hint === undefined ? '' : ` It is made at ${hint}`;
    const prompt = `Paste the token and press Enter; it is not shown.${where}`;
    // Never from the command line, which others on the machine can see.
    const token = await readSecret(context, { prompt, signal: stopping.signal });
    await signIns.paste(server, options.caller ?? '', token);
    return tell();
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
          ? 'Sign in in the browser that was opened. If it was not, open this:'
          : 'Open this in a browser on this machine:',
      );
      out.note(`\n  ${url.href}\n`);
    },
    show: ({ url, code, complete }) => {
      out.note(`Open ${url} in any browser and type the code ${code}`);
      if (complete !== undefined) out.note(`Or open ${complete}`);
    },
  });
  return tell(account);
}
