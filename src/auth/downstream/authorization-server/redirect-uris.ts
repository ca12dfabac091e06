const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])$/;
/** A browser would run or read these instead of handing the code to a program. */
const NO_PROGRAM = /^(?:javascript|data|vbscript|file|blob|about|view-source|ws|wss|ftp|filesystem):$/;
const MAX_LENGTH = 2000;

/** Whether a code may be sent there: a site over https, this machine, or a program that has a scheme of its own. */
export function isUsableRedirect(text: string): boolean {
  if (text.length > MAX_LENGTH || /[\s"'<>\\;]/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  if (hash !== '' || text.includes('#') || username !== '' || password !== '') return false;
  if (protocol === 'https:') return hostname !== '';
  if (protocol === 'http:') return LOOPBACK.test(hostname);
  return !NO_PROGRAM.test(protocol);
}

/** Equal to the letter; only of this machine any port will do, since programs take a free one. */
export function isSameRedirect(registered: string, asked: string): boolean {
  if (registered === asked) return true;
  if (!URL.canParse(registered) || !URL.canParse(asked)) return false;
  const [own, other] = [new URL(registered), new URL(asked)];
  if (own.protocol !== 'http:' || !LOOPBACK.test(own.hostname)) return false;
  own.port = '';
  other.port = '';
  return own.href === other.href && isUsableRedirect(asked);
}

/** With what goes back to the client; what the address has of its own stays. */
export function redirectTo(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
