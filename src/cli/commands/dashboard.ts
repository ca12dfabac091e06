import type { ExitCode } from '../../model/errors.ts';
import { GatewayError } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { foundConfig } from '../found-config.ts';
import type { FoundFor } from '../found-config.ts';
import { linesToGateways } from '../line/lines-to-gateways.ts';
import { openPrivately } from '../open-privately.ts';

/** Opens the dashboard of this user's gateway with a link that works once; where no gateway runs, one is started in the background. */
export async function dashboard(
  options: GlobalOptions & { readonly print?: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const { out } = context;
  const found = await foundConfig(options.config, context, { isReached: true });
  const started = await running(found, context);
  try {
    const [reached] = await linesToGateways(found.stateDir);
    if (reached === undefined)
      throw new GatewayError(
        'GATEWAY_UNAVAILABLE',
        'The gateway cannot be reached; try: trunkline serve --http',
      );
    const link = await reached.line.client.ask('POST /api/session/link', {});
    const opening =
      options.print === true ? 'printed' : await openPrivately(new URL(link.url), found.stateDir, context);
    const isOpened = opening === 'opened';
    // What was opened is used up; the address without it is good for the next time.
    const url = isOpened ? new URL('/', link.url).href : link.url;
    if (out.style.format === 'json')
      out.json({ url, opened: isOpened, ...(!isOpened && { expiresAt: link.expiresAt }) });
    else if (isOpened) {
      out.line(`Opened ${url} in your browser.`);
      out.note('Is it not there? A link to open yourself: trunkline dashboard --print');
    } else {
      if (opening === 'confined')
        out.note('Your browser comes from a snap and may not read the file that would sign it in.');
      out.line(url);
      out.note('Open it in a browser within five minutes; it works once.');
    }
    return 0;
  } finally {
    started?.destroy();
  }
}

/** A pipe to the gateway, so that it does not end before the browser is there; undefined when one runs that was started otherwise. */
async function running(found: FoundFor, context: CliContext) {
  if ((await linesToGateways(found.stateDir)).length > 0) return undefined;
  const [{ attach }, { attachOptions }] = await Promise.all([
    import('../../attach/attach.ts'),
    import('./serve-attached.ts'),
  ]);
  using _ = context.out.progress('Starting the gateway');
  return (await attach(await attachOptions(found, {}, context))).socket;
}
