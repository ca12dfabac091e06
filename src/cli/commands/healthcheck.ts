import { findGatewayRecord } from '../../app/shared-gateway/gateway-record.ts';
import { isProcessAlive } from '../../core/lib/is-process-alive.ts';
import { loadConfig } from '../../config/load-config.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { locateConfig } from '../locate-config.ts';

const TIMEOUT_MS = 5000;
const HEALTH_PATH = '/healthz';

/** Checks whether a gateway answers over HTTP. The exit code is the result, for container images without curl. */
export async function runHealthcheck(
  options: GlobalOptions,
  context: CliContext,
  [urlArgument]: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const url = urlArgument === undefined ? await findHealthUrl(options, context) : parseHealthUrl(urlArgument);
  const status = await fetchStatus(url);
  if (status < 200 || status > 299) throw unavailableError(url, `answered with ${status}`);
  if (options.json === true) out.json({ ok: true, url: url.href, status });
  // Without --json, a pipe gets no output, because the exit code is enough.
  else if (out.style.format === 'text') out.line(`${url.href} answers.`);
  return 0;
}

async function fetchStatus(url: URL): Promise<number> {
  try {
    const { status, body } = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await body?.cancel();
    return status;
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      throw unavailableError(url, `did not answer within ${TIMEOUT_MS / 1000} s`, error);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw unavailableError(url, `cannot be reached (${code})`, error);
  }
}

function unavailableError(url: URL, reason: string, cause?: unknown): GatewayError {
  const address = `${url.origin}${url.pathname}`;
  return new GatewayError('GATEWAY_UNAVAILABLE', `${address} ${reason}.`, {
    cause,
    details: { url: address },
  });
}

/** Parses the URL argument. Adds the health path if the URL has no path. */
function parseHealthUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '')
    throw new GatewayError(
      'USAGE',
      'The argument must be an HTTP URL without credentials, such as http://127.0.0.1:7332.',
    );
  if (url.pathname === '/') url.pathname = HEALTH_PATH;
  return url;
}

/** Returns the URL of the running gateway. If none runs, returns the URL at which it would listen. */
async function findHealthUrl(options: GlobalOptions, context: CliContext): Promise<URL> {
  const { file, text, stateDir } = await locateConfig(options.config, context, {
    canCreate: false,
    isGatewayEnough: true,
  });
  const record = findGatewayRecord(stateDir);
  if (record?.url !== undefined && isProcessAlive(record.pid)) return new URL(HEALTH_PATH, record.url);
  const variable = context.env['TRUNKLINE_HTTP'] ?? '';
  const { value } = await loadConfig({ file, text, version: context.version }).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === 'CONFIG_NOT_FOUND') return { value: undefined };
    throw error;
  });
  const address = /:\d+$/.test(variable) ? variable : (value?.http.address ?? '127.0.0.1:7332');
  // A gateway that listens on all interfaces is reached through the loopback interface.
  const loopback = address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
  return new URL(HEALTH_PATH, `http://${loopback}`);
}
