import { constants } from 'node:fs';
import { access, chmod, copyFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../lib/make-folder.ts';
import { GatewayError } from '../../model/errors.ts';

/** The package with the programs, and the version that this was written for. */
const PACKAGE = 'systray2';
const INSTALL = `npm install -g ${PACKAGE}@2.1.4`;

const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'tray_darwin_release',
  win32: 'tray_windows_release.exe',
  // Only for trying: on Linux panels are asked directly.
  linux: 'tray_linux_release',
};

/**
 * The program of the package that draws the icon. The package's own code is not used: it would first look for the program in
 * the current folder, where anybody may have put one.
 */
export async function trayProgram({
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
    throw new GatewayError('DESKTOP_MISSING', `There is no icon for desktops of ${platform} yet.`);
  const program = join(dirname(manifestOf(from)), 'traybin', name);
  return (await isRunnable(program)) ? program : copied(program, join(folder, 'tray'), name);
}

function manifestOf(from: string): string {
  try {
    return createRequire(from).resolve(`${PACKAGE}/package.json`);
  } catch (error) {
    throw new GatewayError(
      'DESKTOP_MISSING',
      `The icon is drawn by the package "${PACKAGE}", which is not installed. Install it with: ${INSTALL}`,
      { cause: error },
    );
  }
}

async function isRunnable(program: string): Promise<boolean> {
  return access(program, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Packages are unpacked without the right to be run, and their folder may belong to somebody else. */
async function copied(program: string, folder: string, name: string): Promise<string> {
  const own = join(folder, name);
  try {
    await makeFolder(folder, 0o700);
    await copyFile(program, own);
    await chmod(own, 0o700);
  } catch (error) {
    throw new GatewayError(
      'DESKTOP_MISSING',
      `The package "${PACKAGE}" has no program that can be used here. Install it again with: ${INSTALL}`,
      { cause: error },
    );
  }
  return own;
}
