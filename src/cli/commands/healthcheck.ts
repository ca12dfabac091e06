import { readRecord } from '../../attach/gateway-record.ts';
import { isAlive } from '../../attach/is-alive.ts';
import { loadConfig } from '../../config/load.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { foundConfig } from '../found-config.ts';

const WITHIN_MS = 5000;
const HEALTH = '/healthz';

/** Whether a gateway answers over HTTP, told by the exit code; for images that have no other program to ask with. */
export async function healthcheck(
  options: GlobalOptions,
  context: CliContext,
  [given]: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const url = given === undefined ? await usualUrl(options, context) : givenUrl(given);
  const status = await statusOf(url);
  if (status < 200 || status > 299) throw unwell(url, `answered with ${status}`);
  if (options.json === true) out.json({ ok: true, url: url.href, status });
  // In a pipe the exit code says it all.
  else if (out.style.format === 'text') out.line(`${url.href} answers.`);
  return 0;
}

async function statusOf(url: URL): Promise<number> {
  try {
    const { status, body } = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(WITHIN_MS) });
    await body?.cancel();
    return status;
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      throw unwell(url, `did not answer within ${WITHIN_MS / 1000} s`, error);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw unwell(url, `cannot be reached (${code})`, error);
  }
}

function unwell(url: URL, why: string, cause?: unknown): GatewayError {
  const shown = `${url.origin}${url.pathname}`;
  return new GatewayError('GATEWAY_UNAVAILABLE', `${shown} ${why}.`, { cause, details: { url: shown } });
}

/** What has no path is asked where every gateway answers. */
function givenUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '')
    throw new GatewayError('USAGE', 'A URL such as http://127.0.0.1:7332 is needed.');
  if (url.pathname === '/') url.pathname = HEALTH;
  return url;
}

/** Where the gateway that runs listens, else where one would. */
async function usualUrl(options: GlobalOptions, context: CliContext): Promise<URL> {
  const found = await foundConfig(options.config, context, { isMade: false, isReached: true });
  const { file, text, stateDir } = found;
  const record = readRecord(stateDir);
  if (record?.url !== undefined && isAlive(record.pid)) return new URL(HEALTH, record.url);
  const named = context.env['TRUNKLINE_HTTP'] ?? '';
  const { value } = await loadConfig({ file, text, version: context.version }).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === 'CONFIG_NOT_FOUND') return { value: undefined };
    throw error;
  });
  const address = /:\d+$/.test(named) ? named : (value?.http.address ?? '127.0.0.1:7332');
  // Whoever listens everywhere is asked here.
  const here = address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
  return new URL(HEALTH, `http://${here}`);
}
