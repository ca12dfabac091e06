type HeaderRecord = Readonly<Record<string, string>>;

/** Removes an `Authorization` header without credentials, such as `Bearer ${TOKEN:-}` with an unset variable. */
export function omitEmptyAuthorization(headers: HeaderRecord): HeaderRecord {
  const isEmpty = ([name, value]: [string, string]): boolean =>
    name.toLowerCase() === 'authorization' && /^\s*(?:bearer|basic|token)?\s*$/i.test(value);
  const entries = Object.entries(headers);
  return entries.some(isEmpty) ? Object.fromEntries(entries.filter((entry) => !isEmpty(entry))) : headers;
}

export function hasAuthorization(headers: HeaderRecord): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}
