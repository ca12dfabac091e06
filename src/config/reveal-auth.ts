import { AUTH_TEXTS } from './auth-config.ts';
import type { UpstreamAuth, UpstreamConfig } from './config.ts';
import { reveal } from './references.ts';
import type { ReferenceReader } from './references.ts';

/** The settings for signing in with every reference replaced by its value: secrets inside. */
export async function revealAuth(
  { name: server, auth }: Pick<UpstreamConfig, 'name'> & { readonly auth: UpstreamAuth },
  reader: ReferenceReader,
): Promise<UpstreamAuth> {
  const read: ReferenceReader['read'] = (reference) => reader.read(reference);
  const revealed: [string, string][] = [];
  for (const key of AUTH_TEXTS) {
    const text = auth[key];
    if (text !== undefined) revealed.push([key, await reveal(text, { server, field: `auth.${key}`, read })]);
  }
  return { ...auth, ...Object.fromEntries(revealed) };
}
