import { join } from 'node:path';
import { GatewayError } from '../../core/errors.ts';

/** Maximum size of a socket path with its terminating zero. macOS allows 104 bytes, and Linux allows 108. */
const MAX_BYTES = 104;

/** Returns the address of a gateway: a socket in a private folder, or a named pipe on Windows. */
export function socketPath(options: {
  readonly platform: NodeJS.Platform;
  readonly runDir: string;
  /** The value of `XDG_RUNTIME_DIR`: the user's folder for sockets, on systems that have one. */
  readonly runtimeDir: string | undefined;
  /** Unique per gateway, because a replaced gateway may still serve its clients on its own socket. */
  readonly id: string;
}): string {
  const { platform, runDir, runtimeDir, id } = options;
  if (platform === 'win32') return `\\\\.\\pipe\\trunkline-${id}`;
  const candidates = [join(runDir, `${id}.sock`)];
  if (runtimeDir !== undefined && runtimeDir.startsWith('/'))
    candidates.push(join(runtimeDir, 'trunkline', `${id}.sock`));
  const usable = candidates.find((path) => Buffer.byteLength(path) < MAX_BYTES);
  if (usable !== undefined) return usable;
  throw new GatewayError(
    'GATEWAY_UNAVAILABLE',
    `The socket path is too long for this system: ${candidates[0]}. Set TRUNKLINE_HOME to a shorter path.`,
  );
}
