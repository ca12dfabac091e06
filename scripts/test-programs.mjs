// External programs that some tests use. A test declares them with `needs('chromium')` (test/support/needs.ts).
//
// `npm test` skips such tests if a program is missing and reports it; `npm run test:setup` installs the programs on Debian.

import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The programs by the name that tests use, each with a title, its executables, and the Debian packages that contain them. */
export const testPrograms = {
  chromium: { title: 'Chromium', executables: ['chromium'], packages: ['chromium'] },
  desktop: {
    title: 'desktop (Xvfb, D-Bus, Xfce panel)',
    executables: ['Xvfb', 'dbus-daemon', 'xfce4-panel', 'xdotool'],
    packages: ['xvfb', 'dbus-daemon', 'xfce4-panel', 'xdotool'],
  },
  expect: { title: 'expect', executables: ['expect'], packages: ['expect'] },
  faketime: { title: 'faketime', executables: ['faketime'], packages: ['faketime'] },
  fish: { title: 'fish', executables: ['fish'], packages: ['fish'] },
  keychain: {
    title: 'keychain (gnome-keyring)',
    executables: ['gnome-keyring-daemon', 'secret-tool', 'dbus-daemon', 'dbus-send'],
    packages: ['gnome-keyring', 'libsecret-tools', 'dbus-daemon', 'dbus-bin'],
  },
  nginx: { title: 'nginx', executables: ['nginx'], packages: ['nginx-light'] },
  postgresql: { title: 'PostgreSQL', executables: ['initdb'], packages: ['postgresql'] },
  systemd: { title: 'systemd', executables: ['systemd-analyze'], packages: ['systemd'] },
  zsh: { title: 'zsh', executables: ['zsh'], packages: ['zsh'] },
};

/** Returns the names of the programs that are missing on this machine. */
export function missingPrograms() {
  return Object.keys(testPrograms).filter(
    (name) => !testPrograms[name].executables.every((executable) => isInstalled(executable)),
  );
}

function isInstalled(executable) {
  return [...(process.env.PATH ?? '').split(delimiter), ...postgresFolders()].some((folder) =>
    existsSync(join(folder, executable)),
  );
}

/** Debian does not add the server programs of PostgreSQL to PATH. */
function postgresFolders() {
  const folder = '/usr/lib/postgresql';
  return existsSync(folder) ? readdirSync(folder).map((version) => join(folder, version, 'bin')) : [];
}
