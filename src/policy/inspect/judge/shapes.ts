/** What is recognised by its form and not by a word, in any language. */
const SHAPES: Readonly<Record<string, RegExp>> = {
  '#private':
    /(?:^|[\s"'`(=/\\*,])\.(?:env(?!\.(?:example|sample|template|dist))|netrc|npmrc|pypirc|pgpass|git-credentials|gitconfig|bash_history|zsh_history|viminfo|mysql_history)\b|[/\\.](?:ssh|aws|gnupg|kube|docker|cursor|claude|codex|gemini|azure|config\/gcloud)(?:\/|\b)|\bid_(?:rsa|ed25519|ecdsa)\b(?!\.pub)|\bid rsa\b|\bauthorized_keys\b|\bknown_hosts\b|\bmcp\.json\b|claude_desktop_config|\/etc\/(?:passwd|shadow|secrets|sudoers|wireguard|ssl|kubernetes)|\.(?:pem|p12|pfx|keystore|kdbx|key|ovpn|jks)\b|\bwallet\.dat\b|\bseed\.txt\b|169\.254\.169\.254|application_default_credentials|credentials?\.(?:db|json|ya?ml|txt|csv|ini|xml)|secrets?\.(?:ya?ml|json|toml|txt)|\bdatabase\.yml\b|login data|cookies\.sqlite|\b[a-z]+:\/\/credentials|\*_(?:api_key|token|secret)|\bssh[ _]?(?:id|key)/u,
  '#home':
    /(?:^|[\s"'`(=])(?:~[/\\]|\$home\b|%userprofile%|\/home\/|\/users\/|\/root\b|c:\\users|\/tmp\/|\/etc\/|\/var\/)/u,
  '#url': /https?:\/\/|\b(?:ftp|wss?):\/\//u,
  '#address': /\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/u,
  '#mail': /[\w.+{}-]{1,64}@[\w-]{1,63}\.[a-z]/u,
  '#account':
    /\b[a-z]{2}\d{2}(?:[ ]?[\da-z]{4}){2,}|\b\d{12,}\b|\b0x[0-9a-f]{16,}|\bbc1[a-z0-9]{10,}|\+\d[\d -]{7,}\d/u,
  '#fill': /https?:\/\/[^\s"')]{0,200}(?:[{<$[]|=\s|=$)/u,
  '#image': /!\[[^\]]{0,80}\]\(|<img\b/u,
  '#code':
    /\|\s?(?:sudo )?(?:ba|z|da)?sh\b|\|\s?iex\b|\$\([a-z]|\/dev\/tcp|\brm -r|\bchmod\b|\bsudo\b|\bcurl -|\bwget -|\bcurl http|\bwget http|\bnc \d|\bnc -|-enc\b|\bbase64 -|__import__|os\.system|\bdocker run\b|--privileged|--force\b|\bsh -c\b|\beval\(|;\s?curl|\bgit push\b|\bnpx? [^\s]{0,20}http|\bpip3? install\b|\bnpm i(?:nstall)?\b/u,
  '#call': /\b[a-z][a-z0-9]{2,}(?:_[a-z0-9]+){1,6}\b|\b[a-z]{3,}\.[a-z_]{3,}\(|\b[a-z_]{3,}\([a-z_"']/u,
  '#tag': /<\/?[a-z_]{3,20}(?: [^>]{0,60})?>|\[\/?[a-z]{3,12}\]/u,
  '#speaker':
    /(?:^|[\s([*])(?:system|assistants?|agents?|user|human|developer|llm|ai|model|models|todo)\b\*?(?:\]|\([a-z]+\))?\s?:/u,
  '#aside': /\((?=[^)]{25})/u,
  '#quote': /["“«„「'`][^"”»“」'`]{3,60}["”»“」'`]/u,
  '#list': /(?:^|\s)\d\)|(?:^|\s)[-*] /u,
  '#arrow': /→|->|=>/u,
  '#json': /[{[]\s?"|":\s?"/u,
  '#smile': /[:;]-?\)/u,
  '#dash': / [–—] /u,
  '#percent': /\d\s?%/u,
};
const SHOUT =
  /\b[A-Z]{3,}\b(?:[^A-Za-z]{1,3}\b[A-Z]{2,}\b)+|\b(?:MUST|SHALL|ALWAYS|NEVER|IMPORTANT|NOT|ONLY|CRITICAL|WARNING)\b/u;

export const SHAPE_NAMES: readonly string[] = Object.keys(SHAPES);

/** Signs of which one has to be there, and words that do without; so that most patterns need not be tried. */
const NEEDS: Readonly<Record<string, readonly [signs: string, words?: RegExp]>> = {
  '#private': ['./\\_*', /rsa|login|ssh/],
  '#home': ['~$%/\\'],
  '#url': [':'],
  '#address': ['.'],
  '#mail': ['@'],
  '#account': ['0'],
  '#fill': [':'],
  '#image': ['!<'],
  '#code': ['|$/-_.;(', /chmod|sudo|docker|git|curl|wget|pip|npm|nc \d/],
  '#call': ['_('],
  '#tag': ['<['],
  '#speaker': [':'],
  '#aside': ['('],
  '#quote': ['"\'`\u00BB'],
  '#list': ['0-*'],
  '#arrow': ['-=\u00BB'],
  '#json': ['{[:'],
  '#smile': [':;'],
  '#dash': ['\u00BB'],
  '#percent': ['%'],
};
/** Each sign is a bit; digits are one, and so is everything beyond ASCII. */
const SIGNS = '0~$%/\\._*:@!<|-(["\'`=;{';
const BEYOND = 1 << SIGNS.length;
const BITS = Int32Array.from({ length: 128 }, (_, code) => {
  const at = SIGNS.indexOf(code >= 48 && code <= 57 ? '0' : String.fromCharCode(code));
  return at < 0 ? 0 : 1 << at;
});

const ALL = Object.entries(SHAPES).map(([name, pattern]) => {
  const [signs = '', words] = NEEDS[name] ?? [];
  return { name, pattern, words, bits: bitsOf(signs) };
});

export function shapesIn(text: string): readonly string[] {
  const bits = bitsOf(text);
  const found: string[] = [];
  for (const { name, pattern, words, bits: needed } of ALL)
    if (((bits & needed) !== 0 || words?.test(text) === true) && pattern.test(text)) found.push(name);
  return found;
}

function bitsOf(text: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    bits |= code < 128 ? (BITS[code] ?? 0) : BEYOND;
  }
  return bits;
}

export function isShouted(raw: string): boolean {
  return /[A-Z]{2}/.test(raw) && SHOUT.test(raw);
}
