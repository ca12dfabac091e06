import type { Readable, Writable } from 'node:stream';

/** Returns the file descriptor of a pipe to a child process, or undefined if the pipe is closed. Node has no public API for it. */
export function getPipeDescriptor(pipe: Readable | Writable): number | undefined {
  const fd = (pipe as { readonly _handle?: { readonly fd?: number } | null })._handle?.fd ?? -1;
  return fd < 0 ? undefined : fd;
}
