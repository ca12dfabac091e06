/** The parameters of a Bearer challenge in a `WWW-Authenticate` header. */
export interface Challenge {
  readonly resourceMetadata?: string | undefined;
  readonly scope?: string | undefined;
  readonly error?: string | undefined;
  readonly errorDescription?: string | undefined;
}

const MAX_LENGTH = 8192;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;
const SCHEME = /(?:^|,)\s*(?:Bearer|DPoP)(?=\s|,|$)/i;
/** The start of the next challenge: a comma, a scheme, and the first parameter of that scheme. */
const NEXT_SCHEME = /,\s*[A-Za-z][\w!#$%&'*+.^`|~-]*\s+[\w-]+\s*=/;
const PARAMETER = /([A-Za-z][\w-]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/** Parses the Bearer challenge of a header that may contain several challenges. */
export function parseChallenge(header: string | undefined): Challenge {
  if (header === undefined || header.length > MAX_LENGTH) return {};
  // Quoted text may look like a scheme. The outline replaces it with text of the same length, so positions in both texts are equal.
  const outline = header.replaceAll(QUOTED, (text) => '"'.padEnd(text.length, '_'));
  const scheme = SCHEME.exec(outline);
  if (scheme === null) return {};
  const start = scheme.index + scheme[0].length;
  const end = NEXT_SCHEME.exec(outline.slice(start))?.index;
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, bare] of header.slice(start).slice(0, end).matchAll(PARAMETER)) {
    const value = quoted === undefined ? bare : quoted.replaceAll(/\\(.)/g, '$1');
    if (value !== undefined && value !== '' && !parameters.has(name.toLowerCase()))
      parameters.set(name.toLowerCase(), value);
  }
  return {
    resourceMetadata: parameters.get('resource_metadata'),
    scope: parameters.get('scope'),
    error: parameters.get('error'),
    errorDescription: parameters.get('error_description'),
  };
}

/** Joins lists of scopes; each scope appears once, in order of first appearance. */
export function mergeScopes(...lists: readonly (string | undefined)[]): string | undefined {
  const scopes = new Set(lists.flatMap((list) => (list ?? '').split(/\s+/).filter((scope) => scope !== '')));
  return scopes.size === 0 ? undefined : [...scopes].join(' ');
}
