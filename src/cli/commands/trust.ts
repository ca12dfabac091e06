import { resolve } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { locations } from '../../config/paths.ts';
import { trust } from '../../config/file/trust.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';

/** Shows what is trusted: the programs that this file may start from now on. */
export async function trustFile(
  _options: unknown,
  context: CliContext,
  [file = 'trunkline.jsonc']: readonly string[],
): Promise<ExitCode> {
  const path = resolve(context.cwd, file);
  const { value } = await loadConfig({ file: path, version: context.version });
  await trust(path, locations(context).stateDir);
  context.out.note(`Trusted as it is now: ${path}`);
  for (const { name, transport } of value.upstreams) {
    const what = transport.kind === 'http' ? transport.url : [transport.command, ...transport.args].join(' ');
    context.out.note(`  ${name}: ${what}`);
  }
  return 0;
}
