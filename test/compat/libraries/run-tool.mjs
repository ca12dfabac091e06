import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules');

/** Runs the program of an installed package and returns its output. */
export function runTool(name, bin, args) {
  const folder = join(packages, name);
  const { bin: declared } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return execFileSync(process.execPath, [join(folder, declared[bin]), ...args], { encoding: 'utf8' });
}
