const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])$/;
/** Schemes that a browser handles itself instead of passing the code to a program. */
const BROWSER_SCHEMES = /^(?:javascript|data|vbscript|file|blob|about|view-source|ws|wss|ftp|filesystem):$/;
const MAX_LENGTH = 2000;

/** Whether a code may be sent to this address: an https site, this machine, or a program with its own scheme. */
export function isUsableRedirect(text: string): boolean {
  if (text.length > MAX_LENGTH || /[\s"'<>\\;]/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  if (hash !== '' || text.includes('#') || username !== '' || password !== '') return false;
  if (protocol === 'https:') return hostname !== '';
  if (protocol === 'http:') return LOOPBACK.test(hostname);
  return !BROWSER_SCHEMES.test(protocol);
}

/** Whether the address leads to a program on the machine of the browser, so that no other site gains anything from a redirect. */
export function isLoopbackRedirect(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol === 'http:' && LOOPBACK.test(hostname);
}

/** Compares redirect addresses exactly, except for the port of a loopback address, because programs listen on any free port. */
export function isSameRedirect(registered: string, requested: string): boolean {
  if (registered === requested) return true;
  if (!URL.canParse(registered) || !URL.canParse(requested)) return false;
  const [own, other] = [new URL(registered), new URL(requested)];
  if (own.protocol !== 'http:' || !LOOPBACK.test(own.hostname)) return false;
  own.port = '';
  other.port = '';
  return own.href === other.href && isUsableRedirect(requested);
}

/** Sets parameters of a redirect URI. Keeps its other parameters. */
export function buildRedirect(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
