/** Text patterns that do not depend on the language, by the name of their attribute. */
const PATTERNS: Readonly<Record<string, RegExp>> = {
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
const SHOUTED_WORDS =
  /\b[A-Z]{3,}\b(?:[^A-Za-z]{1,3}\b[A-Z]{2,}\b)+|\b(?:MUST|SHALL|ALWAYS|NEVER|IMPORTANT|NOT|ONLY|CRITICAL|WARNING)\b/u;

export const PATTERN_NAMES: readonly string[] = Object.keys(PATTERNS);

/**
 * The condition under which each pattern is tried: the text contains at least one of the characters, or
 * matches `words`. Trying all patterns on every text would be slow. `0` stands for any digit and `\u00BB` for
 * any character beyond ASCII.
 */
const REQUIRED: Readonly<Record<string, readonly [characters: string, words?: RegExp]>> = {
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
/** Each of these characters is one bit of a mask. `0` is the bit of all digits, and one more bit stands for everything beyond ASCII. */
const MASK_CHARACTERS = '0~$%/\\._*:@!<|-(["\'`=;{';
const BEYOND_ASCII = 1 << MASK_CHARACTERS.length;
const MASK_BITS = Int32Array.from({ length: 128 }, (_, code) => {
  const index = MASK_CHARACTERS.indexOf(code >= 48 && code <= 57 ? '0' : String.fromCharCode(code));
  return index < 0 ? 0 : 1 << index;
});

const COMPILED_PATTERNS = Object.entries(PATTERNS).map(([name, pattern]) => {
  const [characters = '', words] = REQUIRED[name] ?? [];
  return { name, pattern, words, mask: characterMask(characters) };
});

/** Returns the names of the patterns that occur in the text. */
export function matchTextPatterns(text: string): readonly string[] {
  const textMask = characterMask(text);
  const names: string[] = [];
  for (const { name, pattern, words, mask } of COMPILED_PATTERNS)
    if (((textMask & mask) !== 0 || words?.test(text) === true) && pattern.test(text)) names.push(name);
  return names;
}

/** Returns the mask of the characters that a text contains. */
function characterMask(text: string): number {
  let mask = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    mask |= code < 128 ? (MASK_BITS[code] ?? 0) : BEYOND_ASCII;
  }
  return mask;
}

export function hasShoutedWords(text: string): boolean {
  return /[A-Z]{2}/.test(text) && SHOUTED_WORDS.test(text);
}
