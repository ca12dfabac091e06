import { createHash } from 'node:crypto';

const PLAIN = /^[a-z0-9][a-z0-9._-]{0,79}$/;
/** What some systems take for a device. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/** A file name that no two servers share, also where capitals do not count; a plain name stays what it is. */
export function logFileName(server: string): string {
  if (PLAIN.test(server) && !RESERVED.test(server) && !server.endsWith('.')) return `${server}.log`;
  const readable = server.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60);
  // No plain name has a tilde in it.
  return `${readable}~${createHash('sha256').update(server).digest('hex').slice(0, 12)}.log`;
}
