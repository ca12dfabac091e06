import { constants } from 'node:fs';
import { access, chmod, copyFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../../core/lib/make-folder.ts';
import { GatewayError } from '../../../core/errors.ts';

/** The package that contains the programs. The install command names the version for which this code was written. */
const PACKAGE = 'systray2';
const INSTALL_COMMAND = `npm install -g ${PACKAGE}@2.1.4`;

const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'tray_darwin_release',
  win32: 'tray_windows_release.exe',
  // Only for tests: on Linux the tray speaks D-Bus with the panel.
  linux: 'tray_linux_release',
};

/**
 * Returns the path of the package's program that draws the icon. The package's own code is not used, because it looks for the
 * program in the current folder first, where an attacker may have put one.
 */
export async function findTrayProgram({
  platform,
  folder,
  from = import.meta.url,
}: {
  readonly platform: NodeJS.Platform;
  readonly folder: string;
  readonly from?: string;
}): Promise<string> {
  const name = PROGRAMS[platform];
  if (name === undefined)
    throw new GatewayError(
      'DESKTOP_MISSING',
      `The tray icon does not support ${platform} yet. Use: trunkline status or trunkline dashboard`,
    );
  const program = join(dirname(findManifest(from)), 'traybin', name);
  return (await isExecutable(program)) ? program : copyProgram(program, join(folder, 'tray'), name);
}

function findManifest(from: string): string {
  try {
    return createRequire(from).resolve(`${PACKAGE}/package.json`);
  } catch (error) {
    throw new GatewayError(
      'DESKTOP_MISSING',
      `The tray icon needs the package "${PACKAGE}", which is not installed. Install it with: ${INSTALL_COMMAND}`,
      { cause: error },
    );
  }
}

async function isExecutable(program: string): Promise<boolean> {
  return access(program, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * Copies the program into our own folder and makes it executable there. Packages are unpacked without the execute permission, and
 * their folder may belong to another user.
 */
async function copyProgram(program: string, folder: string, name: string): Promise<string> {
  const copy = join(folder, name);
  try {
    await makeFolder(folder, 0o700);
    await copyFile(program, copy);
    await chmod(copy, 0o700);
  } catch (error) {
    throw new GatewayError(
      'DESKTOP_MISSING',
      `The package "${PACKAGE}" contains no program for this system. Install it again with: ${INSTALL_COMMAND}`,
      { cause: error },
    );
  }
  return copy;
}
