import type { UpstreamAuth, UpstreamConfig } from './config.ts';
import { resolveReferences } from './resolve-references.ts';
import type { ReferenceReader } from './resolve-references.ts';
import { AUTH_TEXT_KEYS } from './read-upstream-auth.ts';

/** Replaces the references in a server's sign-in settings with their values. The result holds secrets. */
export async function resolveAuth(
  { name: server, auth }: Pick<UpstreamConfig, 'name'> & { readonly auth: UpstreamAuth },
  reader: ReferenceReader,
): Promise<UpstreamAuth> {
  const read: ReferenceReader['read'] = (reference) => reader.read(reference);
  const resolved: [string, string][] = [];
  for (const key of AUTH_TEXT_KEYS) {
    const text = auth[key];
    if (text === undefined) continue;
    resolved.push([key, await resolveReferences(text, { server, field: `auth.${key}`, read })]);
  }
  return { ...auth, ...Object.fromEntries(resolved) };
}
