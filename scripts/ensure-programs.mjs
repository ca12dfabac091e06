// Installs the programs that some tests drive: a browser, a desktop, a terminal, a database, other shells. Only where that is possible without
// asking anybody: on Debian and its kin, as root. Elsewhere it names what is missing, and the tests that need it fail.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs by the Debian package that has them. */
const wanted = {
  ...{ chromium: 'chromium', expect: 'expect', fish: 'fish', zsh: 'zsh' },
  // A desktop that nobody sees, with a panel that shows icons.
  ...{ xvfb: 'Xvfb', 'dbus-daemon': 'dbus-daemon', 'xfce4-panel': 'xfce4-panel', xdotool: 'xdotool' },
  // A keychain.
  ...{ 'gnome-keyring': 'gnome-keyring-daemon', 'libsecret-tools': 'secret-tool' },
  // A clock that can be set for one process.
  faketime: 'faketime',
  // Tests run servers of their own with its programs, not the one that it sets up.
  postgresql: 'pg_createcluster',
  // A balancer in front of several gateways.
  'nginx-light': 'nginx',
};

export function ensurePrograms() {
  const missing = Object.keys(wanted).filter((name) => !isThere(wanted[name]));
  if (missing.length === 0) return;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || !isThere('apt-get')) {
    process.stderr.write(
      `ensure: some tests will fail without these Debian packages or their like: ${missing.join(' ')}\n`,
    );
    return;
  }
  process.stderr.write(`ensure: installing ${missing.join(' ')}\n`);
  // Lists of packages may be missing or old; the second attempt has fresh ones.
  if (apt('install', ...missing) !== 0 && (apt('update') !== 0 || apt('install', ...missing) !== 0))
    process.stderr.write(`ensure: could not install ${missing.join(' ')}; tests that need them will fail.\n`);
}

function isThere(program) {
  const path = process.env.PATH ?? '';
  return path.split(delimiter).some((folder) => existsSync(join(folder, program)));
}

function apt(command, ...packages) {
  const { status } = spawnSync('apt-get', [command, '-y', '-q', '--no-install-recommends', ...packages], {
    // Standard output belongs to the command that needs the programs.
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return status;
}
