import { resolve } from 'node:path';
import { locations } from '../../config/paths.ts';
import { trust } from '../../config/trust.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';

export async function trustFile(file: string, context: CliContext): Promise<ExitCode> {
  const path = resolve(context.cwd, file);
  await trust(path, locations(context).stateDir);
  context.out.note(`Trusted as it is now: ${path}`);
  return 0;
}
