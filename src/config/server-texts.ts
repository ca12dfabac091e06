import type { UpstreamConfig } from './config.ts';
import { AUTH_TEXT_KEYS } from './read-upstream-auth.ts';
import { hasCommandReference, parseReferences } from './resolve-references.ts';

type ServerSettings = Pick<UpstreamConfig, 'transport' | 'auth'>;

/** Returns the texts of a server that may hold references, except the path of its environment file. */
export function listServerTexts({ transport, auth }: ServerSettings): readonly string[] {
  const texts = AUTH_TEXT_KEYS.flatMap((key) => auth?.[key] ?? []);
  if (transport.kind === 'http') return [...texts, transport.url, ...Object.values(transport.headers)];
  return [
    ...texts,
    transport.command,
    ...transport.args,
    ...Object.values(transport.env),
    transport.cwd ?? '',
  ];
}

/** Whether a server refers to a secret, or to a variable of the same name: the secret replaces the variable while the variable is unset. */
export function usesSecret(server: ServerSettings, secret: string): boolean {
  return listServerTexts(server).some((text) =>
    parseReferences(text).some(
      (part) =>
        typeof part !== 'string' &&
        (part.from === 'secret' || part.from === 'keychain' || part.from === 'env') &&
        part.name === secret,
    ),
  );
}

/** Whether resolving the references of a server runs a program. */
export function runsReferencePrograms(server: ServerSettings): boolean {
  const { transport } = server;
  const envFile = transport.kind === 'http' ? undefined : transport.envFile;
  return [...listServerTexts(server), envFile ?? ''].some(hasCommandReference);
}
