import { join } from 'node:path';
import { GatewayError } from '../model/errors.ts';

/** What the kernel takes, with the zero at the end: Linux has 108 bytes, macOS 104. */
const MAX_BYTES = 104;

/** Where a gateway listens: a socket in a folder of the user's own, or a named pipe on Windows. */
export function socketPath(options: {
  readonly platform: NodeJS.Platform;
  readonly runDir: string;
  /** The user's folder for such things, where the system has one. */
  readonly runtimeDir: string | undefined;
  /** Different for each gateway, so that an old one that still serves is in nobody's way. */
  readonly id: string;
}): string {
  const { platform, runDir, runtimeDir, id } = options;
  if (platform === 'win32') return `\\\\.\\pipe\\trunkline-${id}`;
  const places = [join(runDir, `${id}.sock`)];
  if (runtimeDir !== undefined && runtimeDir.startsWith('/'))
    places.push(join(runtimeDir, 'trunkline', `${id}.sock`));
  const fitting = places.find((path) => Buffer.byteLength(path) < MAX_BYTES);
  if (fitting !== undefined) return fitting;
  throw new GatewayError(
    'GATEWAY_UNAVAILABLE',
    `The path of the socket is too long for the system: ${places[0]}`,
  );
}
