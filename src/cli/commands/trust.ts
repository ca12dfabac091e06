import { resolve } from 'node:path';
import type { TransportConfig } from '../../config/config.ts';
import { loadConfig } from '../../config/load.ts';
import { maskedArgs, maskedUrl } from '../../config/masked.ts';
import { locations } from '../../config/paths.ts';
import { trust } from '../../config/file/trust.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';

/** Without what may be a secret. */
function reachedBy(transport: TransportConfig): string {
  if (transport.kind === 'http') return maskedUrl(transport.url);
  return [transport.command, ...maskedArgs(transport.args)].join(' ');
}

/** Shows what is trusted: the programs that this file may start from now on. */
export async function trustFile(
  _options: unknown,
  context: CliContext,
  [file = 'trunkline.jsonc']: readonly string[],
): Promise<ExitCode> {
  const path = resolve(context.cwd, file);
  const { value } = await loadConfig({ file: path, version: context.version });
  await trust(path, locations(context).stateDir);
  const servers = value.upstreams.map(({ name, transport }) => ({ name, reachedBy: reachedBy(transport) }));
  const { out } = context;
  if (out.style.format === 'json') {
    out.json({ trusted: path, servers });
    return 0;
  }
  out.line(`Trusted as it is now: ${path}`);
  out.table(
    servers.map((server) => [{ text: `  ${server.name}`, paint: out.paint.bold }, server.reachedBy]),
    { last: 'wrap' },
  );
  return 0;
}
