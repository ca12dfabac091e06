import type { ExitCode } from '../../core/errors.ts';
import { GatewayError } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { locateConfig } from '../locate-config.ts';
import type { ConfigLocation } from '../locate-config.ts';
import { findReachableGateways } from '../gateway-client/reachable-gateways.ts';
import { openDashboardLink } from '../open-dashboard-link.ts';

/** Opens the dashboard of the gateway with a single-use link. Starts a gateway in the background if none runs. */
export async function runDashboard(
  options: GlobalOptions & { readonly print?: boolean },
  context: CliContext,
): Promise<ExitCode> {
  const { out } = context;
  const location = await locateConfig(options.config, context, { isGatewayEnough: true });
  const started = await startGatewayIfNeeded(location, context);
  try {
    const [gateway] = await findReachableGateways(location.stateDir);
    if (gateway === undefined)
      throw new GatewayError(
        'GATEWAY_UNAVAILABLE',
        'The gateway was started but does not answer. Find the cause with: trunkline doctor',
      );
    const link = await gateway.connection.client.request('POST /api/session/link', {});
    const opening =
      options.print === true
        ? 'printed'
        : await openDashboardLink(new URL(link.url), location.stateDir, context);
    const isOpened = opening === 'opened';
    // The browser has used the link, which works only once. The plain address can be opened again.
    const url = isOpened ? new URL('/', link.url).href : link.url;
    if (out.style.format === 'json')
      out.json({ url, opened: isOpened, expiresAt: isOpened ? undefined : link.expiresAt });
    else if (isOpened) {
      out.line(`Opened ${url} in your browser.`);
      out.note('If no page opened, get a link with: trunkline dashboard --print');
    } else {
      if (opening === 'confined')
        out.note(
          'Your browser is a snap, which cannot read the file that signs it in. Open the link yourself.',
        );
      out.line(url);
      out.note('Open this link in a browser within five minutes. It works once.');
    }
    return 0;
  } finally {
    started?.destroy();
  }
}

/** Starts a gateway if none runs. Returns a connection that keeps it alive until the browser has opened the page. */
async function startGatewayIfNeeded(location: ConfigLocation, context: CliContext) {
  if ((await findReachableGateways(location.stateDir)).length > 0) return undefined;
  const [{ findOrStartGateway }, { createFindOrStartOptions }] = await Promise.all([
    import('../../app/shared-gateway/find-or-start-gateway.ts'),
    import('./serve-through-shared-gateway.ts'),
  ]);
  using _ = context.out.progress('Starting the gateway');
  return (await findOrStartGateway(await createFindOrStartOptions(location, {}, context))).socket;
}
