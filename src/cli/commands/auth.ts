import { openSignIns } from '../../app/signing-in/open-sign-ins.ts';
import type { AdminSignInStatus as SignInStatus } from '../../admin/contract/contract.ts';
import { shellWord } from '../../lib/shell-word.ts';
import type { ExitCode } from '../../model/errors.ts';
import { silentLogger } from '../../observe/log.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { foundConfig } from '../found-config.ts';

const STATES: Readonly<Record<SignInStatus['state'], string>> = {
  'signed-in': 'signed in',
  expired: 'expired',
  'needs-sign-in': 'needs you',
  header: 'header',
  'not-signed-in': 'no sign-in',
};

/** One inbox: every server that somebody can sign in to. */
export async function auth(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { file, text, stateDir } = await foundConfig(options.config, context);
  const { out } = context;
  await using signIns = await openSignIns({ ...context, file, text, stateDir, log: silentLogger });
  const all = await signIns.list();
  if (out.style.format === 'json') {
    out.json(
      all.map(({ expiresAt, ...rest }) => ({
        ...rest,
        ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
      })),
    );
    return 0;
  }
  if (all.length === 0) {
    out.line('No server is reached over HTTP, so there is nothing to sign in to.');
    return 0;
  }
  const { bold, dim } = out.paint;
  const head = ['server', 'state', 'account', 'token ends', ''].map((text) => ({ text, paint: dim }));
  const rows = all.map((one) => [
    { text: one.caller === '' ? one.server : `${one.server} (${one.caller})`, paint: bold },
    STATES[one.state],
    one.account ?? '',
    endOf(one),
    adviceOn(one),
  ]);
  out.table([head, ...rows], { last: 'wrap' });
  return 0;
}

function endOf({ state, renews, expiresAt }: SignInStatus): string {
  if (state !== 'signed-in' && state !== 'expired') return '';
  const when =
    expiresAt === undefined ? 'unknown' : new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' ');
  return renews === true ? `${when}, renews` : when;
}

function adviceOn({ server, caller, state, problem }: SignInStatus): string {
  const isFine = state === 'signed-in' || state === 'header' || state === 'not-signed-in';
  const command = `trunkline login ${shellWord(server)}${caller === '' ? '' : ` --caller ${shellWord(caller)}`}`;
  return [isFine ? undefined : `run ${command}`, problem].filter((part) => part !== undefined).join(': ');
}
