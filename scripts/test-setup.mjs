// npm run test:setup: installs the external programs that some tests use, on Debian and its derivatives. It first prints what it installs.

import { spawnSync } from 'node:child_process';

import { missingPrograms, testPrograms } from './test-programs.mjs';

const missing = missingPrograms();
const packages = [...new Set(missing.flatMap((name) => testPrograms[name].packages))];

if (missing.length === 0) {
  console.log('All programs that the tests use are installed.');
} else {
  console.log(`Missing: ${missing.map((name) => testPrograms[name].title).join(', ')}.`);
  console.log(`Installing the Debian packages ${packages.join(' ')}.`);
  installPackages();
}

function installPackages() {
  if (spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status !== 0)
    fail('apt-get was not found. Install these programs, or their equivalents, manually.');
  if (process.getuid?.() !== 0)
    fail('Installing packages needs root. Run: sudo env "PATH=$PATH" npm run test:setup');
  // Package lists may be missing or old; the second attempt uses fresh ones.
  const isDone = apt('install', ...packages) || (apt('update') && apt('install', ...packages));
  if (!isDone) fail('apt-get failed. See its output above.');
  const rest = missingPrograms();
  if (rest.length > 0) fail(`Still missing after the installation: ${rest.join(', ')}.`);
}

function apt(command, ...names) {
  const { status } = spawnSync('apt-get', [command, '-y', '-q', '--no-install-recommends', ...names], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return status === 0;
}

function fail(message) {
  console.error(`test:setup: ${message}`);
  process.exit(1);
}
