import { openSignIns } from '../../app/open-sign-ins.ts';
import type { AdminSignInStatus as SignInStatus } from '../../admin/contract/contract.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import type { ExitCode } from '../../core/errors.ts';
import { silentLogger } from '../../observability/log.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { locateConfig } from '../locate-config.ts';

const STATES: Readonly<Record<SignInStatus['state'], string>> = {
  'signed-in': 'signed in',
  expired: 'expired',
  'needs-sign-in': 'sign-in needed',
  header: 'header',
  'not-signed-in': 'no sign-in',
};

/** Lists every server that supports signing in, with the state of its sign-in. */
export async function runAuth(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { file, text, stateDir } = await locateConfig(options.config, context);
  const { out } = context;
  await using signIns = await openSignIns({ ...context, file, text, stateDir, log: silentLogger });
  const statuses = await signIns.list();
  if (out.style.format === 'json') {
    out.json(
      statuses.map(({ expiresAt, ...rest }) => ({
        ...rest,
        expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString(),
      })),
    );
    return 0;
  }
  if (statuses.length === 0) {
    out.line('No server uses HTTP, so there is nothing to sign in to.');
    return 0;
  }
  const { bold, dim } = out.paint;
  const head = ['server', 'state', 'account', 'token expires', ''].map((text) => ({ text, paint: dim }));
  const rows = statuses.map((status) => [
    { text: status.caller === '' ? status.server : `${status.server} (${status.caller})`, paint: bold },
    STATES[status.state],
    status.account ?? '',
    formatExpiry(status),
    formatAdvice(status),
  ]);
  out.table([head, ...rows], { lastColumn: 'wrap' });
  return 0;
}

function formatExpiry({ state, renews, expiresAt }: SignInStatus): string {
  if (state !== 'signed-in' && state !== 'expired') return '';
  const when =
    expiresAt === undefined ? 'unknown' : new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' ');
  return renews === true ? `${when}, renews` : when;
}

function formatAdvice({ server, caller, state, problem }: SignInStatus): string {
  const isFine = state === 'signed-in' || state === 'header' || state === 'not-signed-in';
  const command = `trunkline login ${quoteShellWord(server)}${caller === '' ? '' : ` --caller ${quoteShellWord(caller)}`}`;
  return [isFine ? undefined : `run ${command}`, problem].filter((part) => part !== undefined).join(': ');
}
