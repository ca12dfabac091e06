/** What a `WWW-Authenticate` header asks for. */
export interface Challenge {
  readonly resourceMetadata?: string;
  readonly scope?: string;
  readonly error?: string;
  readonly errorDescription?: string;
}

const MAX_LENGTH = 8192;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;
const SCHEME = /(?:^|,)\s*(?:Bearer|DPoP)(?=\s|,|$)/i;
const NEXT_SCHEME = /,\s*[A-Za-z][\w!#$%&'*+.^`|~-]*\s+[\w-]+\s*=/;
const PARAMETER = /([A-Za-z][\w-]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/** Reads the Bearer challenge out of a header that may hold several; everything in it is optional. */
export function parseChallenge(header: string | undefined): Challenge {
  if (header === undefined || header.length > MAX_LENGTH) return {};
  // Quoted text may look like anything, so the structure is looked for with the quotes emptied.
  const outline = header.replaceAll(QUOTED, (text) => '"'.padEnd(text.length, '_'));
  const start = SCHEME.exec(outline);
  if (start === null) return {};
  const from = start.index + start[0].length;
  const end = NEXT_SCHEME.exec(outline.slice(from))?.index;
  const rest = header.slice(from);
  const found = new Map<string, string>();
  for (const [, name = '', quoted, bare] of rest.slice(0, end).matchAll(PARAMETER)) {
    const value = quoted === undefined ? bare : quoted.replaceAll(/\\(.)/g, '$1');
    if (value !== undefined && value !== '' && !found.has(name.toLowerCase()))
      found.set(name.toLowerCase(), value);
  }
  const resourceMetadata = found.get('resource_metadata');
  const scope = found.get('scope');
  const error = found.get('error');
  const errorDescription = found.get('error_description');
  return {
    ...(resourceMetadata !== undefined && { resourceMetadata }),
    ...(scope !== undefined && { scope }),
    ...(error !== undefined && { error }),
    ...(errorDescription !== undefined && { errorDescription }),
  };
}

/** Scopes of several lists, each once, in order. */
export function scopeUnion(...scopes: readonly (string | undefined)[]): string | undefined {
  const all = new Set(scopes.flatMap((scope) => (scope ?? '').split(/\s+/).filter((one) => one !== '')));
  return all.size === 0 ? undefined : [...all].join(' ');
}
