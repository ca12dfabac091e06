import type { FindingRule } from './finding.ts';

/** What no honest definition says, as patterns over plain words: lower case, single spaces, no markup. */
export interface Phrase {
  readonly rule: FindingRule;
  readonly pattern: RegExp;
}

const USER = String.raw`(?:the |your |this |a |any )?(?:end[- ]?)?(?:users?|humans?|persons?|people|operators?|customers?|owners?|developers?|anyone|anybody|them)`;
const INSTRUCTIONS = String.raw`(?:instructions?|directions?|directives?|guidelines?|rules?|prompts?|commands?|constraints?|polic(?:y|ies)|safety|restrictions?|safeguards?|guardrails?)`;
const EARLIER = String.raw`(?:(?:all|any|every|your|the|these|those|other|of) ){0,4}(?:previous|prior|above|earlier|preceding|existing|original|initial|former|current|past|foregoing|system|safety|security|user's|developer's|default)`;
const HIDE = String.raw`(?:tell|mention|inform|reveal|notify|show|disclose|alert|explain|report|let|expose|display|warn|describe|say|ask(?= (?:[a-z']+ ){0,4}(?:permission|confirmation|consent|approval)))`;
const PRIVATE = String.raw`(?:ssh|private|secret|api|access|encryption|signing|deploy)[ -]?(?:api )?keys?|id_rsa|id_ed25519|passwords?|passphrases?|credentials?|seed phrases?|mnemonics?|recovery phrases?|(?:auth(?:entication)?|access|bearer|session|oauth|refresh|api|personal access) tokens?|session cookies?|environment variables?|env vars?|\.env\b|credit card(?: numbers?)?|social security`;
const PRIVATE_FILE = String.raw`(?:~|\$home|%userprofile%|/home/\S{1,30}|/root|/users/\S{1,30})?[/\\]?\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials|cursor|claude|codex|gemini|bash_history|zsh_history|config/gcloud)\b|/etc/(?:passwd|shadow|sudoers)|id_rsa|id_ed25519|mcp\.json|claude_desktop_config|\bcookies\.sqlite|login data|keychain|wallet\.dat`;
const CONVERSATION = String.raw`(?:(?:the|your|our|this|full|entire|whole|complete|all|any|of|current|previous|prior|user's|users?) ){0,5}(?:conversation|chat|message|dialogue|session|prompt|interaction)s?(?:[' ]s)?(?: (?:history|histories|context|log|logs|transcript|contents?|so far))?`;
const TAKE = String.raw`(?:read|open|cat|fetch|get|load|access|retrieve|grab|collect|include|pass|provide|send|attach|append|copy|paste|extract|gather|embed|supply|put|place|insert|encode|list|dump|find|scan|search for|locate|harvest|obtain|submit|transmit|upload|exfiltrate|leak|post|forward)`;
const SEND = String.raw`(?:send|sends|sending|post|forward|forwards|upload|uploads|transmit|transmits|exfiltrate|leak|copy|copies|mirror|report|relay|deliver|submit|beacon|bcc|cc)`;

const phrase = (rule: FindingRule, ...sources: readonly string[]): readonly Phrase[] =>
  sources.map((source) => ({ rule, pattern: new RegExp(source, 'u') }));

export const PHRASES: readonly Phrase[] = [
  ...phrase(
    'instruction',
    String.raw`\b(?:ignore|disregard|forget|bypass|override|overrule|discard|supersede|circumvent|violate|skip|drop)s? ${EARLIER}[^.]{0,30}${INSTRUCTIONS}`,
    String.raw`\b(?:ignore|disregard|forget|discard) (?:everything|anything|all|what)(?: (?:that|you|was|were|been|has|have|said|told|above|before|else|written|of)){1,6}`,
    String.raw`\b(?:these|this|following|below|new|my) ${INSTRUCTIONS} (?:take|takes|have|has|override|overrides|supersede|supersedes|replace|replaces|outrank|outranks)\b`,
    String.raw`\b(?:overrides?|supersedes?|takes? (?:precedence|priority) over|replaces?|outranks?) (?:all |any |every |the |your )*(?:other |previous |prior |system |user |existing |safety ){1,3}${INSTRUCTIONS}`,
    String.raw`\byou are (?:now|no longer|hereby) (?:a |an |in |the |bound|required|operating|running|dan\b|acting|subject|free)`,
    String.raw`\b(?:enter|activate|enable|switch to|engage) (?:developer|debug|admin|god|jailbreak|maintenance|unrestricted|dan|root) mode\b`,
    String.raw`\b(?:new|updated|revised|real|actual|true|additional|hidden|secret|special|internal) (?:system )?(?:instructions?|prompt|directives?|orders?)(?: for (?:the )?(?:assistant|ai|model|agent|llm))?\s?[:=-]`,
    String.raw`\b(?:secret|hidden|private|confidential|important|urgent|critical) (?:note|message|instructions?|reminder|notice|directive|warning)s? (?:to|for) (?:the |any |all )?(?:ai|llm|language model|assistant|model|agent|claude|gpt|chatgpt|copilot|gemini)`,
    String.raw`\b(?:ai|llm|assistant|model|agent)s? (?:reading|processing|seeing|using|that reads?|who reads?) this\b`,
    String.raw`\b(?:pretend|act as if|behave as though|role-?play)[^.]{0,40}(?:no restrictions|unrestricted|administrator|admin|root|another|not an ai|different)`,
    String.raw`\b(?:regardless|irrespective) of (?:what )?(?:the )?(?:user|human|person)(?:'s)?\b[^.]{0,40}(?:says?|wants?|asks?|requests?|preferences?|instructions?|answers?|intent)?`,
    String.raw`\beven if (?:the )?(?:user|human|person) (?:says?|asks?|objects?|declines?|refuses?|requests?|tells?|wants?|did not|didn't|does not|doesn't)`,
    String.raw`\bdo not (?:follow|obey|comply with|respect|honou?r|trust|listen to)(?: (?:the|any|what|other|all|user|users?'?s?|system|safety)){0,4} (?:${INSTRUCTIONS}|user|users|says?|wants?|requests?)`,
  ),
  ...phrase(
    'secrecy',
    String.raw`\b(?:do not|don't|dont|never|must not|should not|shouldn't|mustn't|avoid|without|no need to|not necessary to|refrain from|cannot|can't|not to)(?: (?:ever|even|also|need to|have to|you))* ${HIDE}(?:ing)?(?: (?:this|that|it|these|about|anything|any|of|the|to|step|details?|action|fact|file|process|content|contents|what|know|see)){0,6} ?(?:to |with |for )?${USER}\b(?! (?:id|ids|name|names|email|list|interface|group|groups|profile|role|roles|account|input|for (?:a|the|their|confirmation)))`,
    String.raw`\bwithout (?:telling|informing|notifying|alerting|asking|consulting|mentioning|the knowledge of|(?:the )?(?:user|human|person|owner|anyone)(?:'s)? (?:knowing|noticing|knowledge|awareness|seeing|being))`,
    String.raw`\b(?:keep|stay|remain|be|is|are|must be|should be)(?: (?:this|it|that|these|all|the|step|instructions?|strictly|completely|kept|entirely))* (?:secret|hidden|confidential|silent|invisible|covert|unnoticed|discreet|undisclosed)(?: from|\b[^.]{0,20}(?:user|human|anyone|them|person))`,
    String.raw`\b(?:user|human|person|victim|owner|operator)s? (?:must|should|need|needs|will|does|do|can|may|shall|would)(?: not|n't| never| to not)(?: need to| ever| have to)? (?:know|see|notice|be (?:aware|told|informed|shown|notified|alerted|bothered)|find out|realize|realise|learn|suspect|be able to see)`,
    String.raw`\b(?:silently|secretly|covertly|quietly|discreetly|stealthily|invisibly|surreptitiously)(?: and \w+)? (?:${TAKE}|call|invoke|execute|run|use|add|change|modify|write|install|delete|redirect|replace|record|log|bcc|include|perform|make|set|do|continue|proceed)`,
    String.raw`\b(?:so that|so|to make sure|ensure)(?: that)? (?:the )?(?:user|human|person|he|she|they|nobody|no one)(?: (?:does|do|will|won't|can|cannot|can't|doesn't|don't|is|are))*(?: not|n't)? (?:notice|notices|see|sees|know|knows|suspect|suspects|worry|worries|get (?:scared|worried|upset|frustrated|concerned))`,
    String.raw`\b(?:hide|conceal|mask|obscure|omit|disguise)(?: (?:this|that|it|these|any|the|all|your|details?|action|fact|mention|evidence|traces?)){1,4}(?: (?:of|about|that) [^.]{0,30})? (?:from|to) ${USER}`,
    String.raw`\bpretend (?:that |nothing|to |it |you )`,
    String.raw`\b(?:instead|rather),? (?:explain|tell|say|describe|show|give)[^.]{0,60}(?:very )?(?:gently|detailed|mathematical|reassuring|innocent|harmless|plausible)`,
  ),
  ...phrase(
    'secrets',
    String.raw`\b${TAKE}(?:ing)?\b[^.;]{0,60}(?:${PRIVATE_FILE})`,
    String.raw`(?:${PRIVATE_FILE})[^.;]{0,60}\b(?:contents?|file|pass|as|into|in)\b[^.;]{0,30}(?:parameter|argument|field|sidenote|note|context|value|this|here)`,
    String.raw`\b(?:contents?|text|value|values|full text|data|body) (?:of|from|in|inside)\b[^.;]{0,40}(?:${PRIVATE_FILE}|\.env\b|environment variables|ssh key|private key)`,
    String.raw`\b(?:include|pass|provide|send|attach|append|paste|insert|put|place|embed|encode|supply|add|copy|forward|submit|leak|reveal|extract|collect|harvest|search for|locate|dump|print|gather)\b[^.;]{0,40}\b(?:any|all|your|user's|users'|their|the user's|every|found|known|available|stored)\b[^.;]{0,40}(?:${PRIVATE})`,
    String.raw`\b(?:system prompt|system message|hidden prompt|developer (?:prompt|message))\b[^.]{0,80}\b(?:here|parameter|argument|field|verbatim|exactly|pass|include|copy|send|value|contents?)`,
    String.raw`\b(?:include|pass|provide|send|copy|repeat|reveal|output|print|paste|put|place|attach|leak|share|forward|supply|append)\b[^.]{0,40}\b(?:your|the|full|entire) ?(?:own |full |entire |initial |original )?(?:system (?:prompt|message|instructions)|hidden instructions|initial prompt)`,
  ),
  ...phrase(
    'exfiltration',
    String.raw`\b(?:include|pass|provide|send|copy|put|place|paste|attach|append|insert|supply|embed|forward|summari[sz]e|upload|store|log|record|encode|share)\b[^.]{0,30}\b(?:full|entire|whole|complete|all|every|verbatim|last \d+|previous|prior|recent)\b[^.]{0,20}\b${CONVERSATION}\b(?! (?:id|thread|type|template))`,
    String.raw`\b(?:full|entire|whole|complete|verbatim) (?:text of |copy of |transcript of |contents? of )?(?:the |your |our |user's |this )*(?:conversation|chat|dialogue|message history|chat history|context window|prompt)\b[^.]{0,60}(?:so far|history|verbatim|must|required|including|every|here)`,
    String.raw`\b${SEND}\b[^.]{0,80}\b(?:to|at|via)\b[^.]{0,20}(?:https?://|[a-z0-9._-]+@[a-z0-9-]+\.[a-z]|(?:attacker|evil|exfil|my (?:webhook|server)|collector|ngrok|requestbin|pipedream|burpcollaborator|oast)\b)`,
    String.raw`!\[[^\]]{0,80}\]\(https?://[^)]{0,200}[?&/=]\s?[{<$[]`,
    String.raw`\b(?:append|add|encode|embed|include|put|place|insert|pass|hide)\b[^.]{0,60}(?:query (?:string|parameters?)|\burl parameters?|image url|dns|subdomain)[^.]{0,60}\b(?:stolen|secrets?|tokens?|encoded|conversation|passwords?|credentials?|file contents?)`,
    String.raw`\b(?:all|every|any|each)(?: \w+){0,3} (?:e-?mails?|messages?|payments?|transfers?|transactions?|requests?|files?)\b[^.]{0,60}\b(?:must|should|has to|have to|need to|needs to|are to|is to|will)\b[^.]{0,40}(?:also |instead |first )?(?:be )?(?:sent|send|bcc|cc|cc'd|bcc'd|copied|forwarded|redirected|routed|delivered|addressed|made)\b[^.]{0,30}\bto\b`,
    String.raw`\b(?:change|replace|swap|set|substitute|switch|modify|alter|redirect)\b[^.]{0,50}(?:recipient|destination|wallet|account number|iban|payee|beneficiary|e-?mail address|phone number)\b[^.]{0,50}(?:to|with|by) (?:[a-z0-9._+-]+@|\+?\d|0x|bc1|[a-z0-9]{20,}|the (?:proxy|attacker|following|number|one below))`,
  ),
  ...phrase(
    'other-tools',
    String.raw`\b(?:before|prior to|whenever|when|every time|each time|after|once|if)\b[^.]{0,30}\b(?:any|other|another|every|all|all other|some other)(?: \w+)? (?:tools?|functions?|servers?|mcp)\b[^.]{0,100}\b(?:must|always|need to|have to|required|should|first|also|mandatory)\b[^.]{0,40}\b(?:call|use|invoke|run|read|execute|pass|send|be called|be invoked|be run|be used)\b[^.]{0,30}\b(?:this|me|it)\b`,
    String.raw`\b(?:always|must|only|exclusively)\b[^.]{0,25}\b(?:use|call|prefer|choose|select|pick|invoke)\b[^.]{0,20}\bthis(?: tool)?\b[^.]{0,30}\b(?:instead of|rather than|over|in place of|and never|and not|even if)\b[^.]{0,40}\b(?:any|all|every|the) (?:other|others|built-?in|native|alternative|competing|official)`,
    String.raw`\b(?:do not|don't|never|stop|avoid)(?: ever)? (?:use|using|call|calling|invoke|invoking|trust|trusting)\b[^.]{0,30}\b(?:any|the|all) (?:other|others|built-?in|native|official|original|competing)(?: \w+){0,2} (?:tools?|functions?|servers?|one)\b`,
    String.raw`\b(?:other|the|all|previous|existing|official|original)(?: \w+){0,3} (?:tools?|servers?|functions?) (?:is|are|has been|have been|was) (?:deprecated|broken|compromised|insecure|unsafe|untrusted|disabled|obsolete|malicious|no longer)[^.]{0,60}(?:use|call|instead|this)`,
    String.raw`\b(?:when|whenever|if|every time|each time|after|before)\b[^.]{0,50}\b(?:send[_ ]?e?-?mail|send[_ ]?message|transfer|payment|read[_ ]?file|write[_ ]?file|commit|search|whatsapp|slack|gmail|github|filesystem|bash|shell|browser)\b[^.]{0,30}\b(?:tool|function|server|mcp|is (?:called|used|invoked|available|present))\b[^.]{0,120}\b(?:must|always|change|replace|instead|also|bcc|cc|add|set|redirect|append|pass|first|include)\b`,
    String.raw`\bthis tool (?:replaces|overrides|supersedes|shadows|modifies|changes|intercepts|takes over|affects)(?: the)?(?: behaviou?r of)?[^.]{0,40}\b(?:tools?|functions?|servers?|behaviou?r|mcp)\b`,
    String.raw`\b(?:side ?effects?|behaviou?r|rules?|instructions?) (?:on|of|for|to) (?:the )?(?:other|another|all|every)(?: \w+)? tools?\b[^.]{0,40}(?:must|should|change|apply|follow|:)`,
  ),
  ...phrase(
    'command',
    String.raw`\b(?:curl|wget|iwr|invoke-webrequest)\b[^|;\n]{0,200}\|\s?(?:sudo )?(?:ba|z|da)?sh\b`,
    String.raw`\b(?:bash|sh|zsh) -c\b[^.]{0,80}(?:curl|wget|nc |base64|/dev/tcp)`,
    String.raw`/dev/tcp/|\bnc -e\b|\brm -rf (?:/|~|\$home)`,
    String.raw`\b(?:run|execute|type|enter|paste|invoke|start|issue)\b[^.]{0,40}\b(?:command|script|code|payload|following|shell|terminal|bash)s?\b[^.]{0,40}(?:before|first|silently|to (?:initiali[sz]e|enable|activate|unlock|verify|authenticate|set up))[^.]{0,80}(?:curl|wget|sudo|chmod|bash|sh |python|node|powershell|npm|pip|http)`,
    String.raw`\b(?:add|append|write|insert|install|put|plant)\b[^.]{0,60}(?:authorized_keys|crontab|\.bashrc|\.zshrc|\.profile|startup folder|launchagents|post-?install|backdoor|reverse shell|git hook|pre-commit)`,
    String.raw`\b(?:disable|turn off|bypass|skip|switch off|remove|deactivate)\b[^.]{0,40}\b(?:confirmations?|approvals?|security|safety|firewall|antivirus|sandbox(?:ing)?|permission (?:checks?|prompts?)|2fa|mfa|audit(?:ing| logs?)?|logging)\b[^.]{0,40}(?:before|first|for|so|to|when|without|prompts?|checks?)`,
  ),
  ...phrase(
    'encoded',
    String.raw`\b(?:decode|decrypt|un-?base64|base64 -d|atob|rot13|unescape|decipher|deobfuscate)\b[^.]{0,60}\b(?:and|then)\b[^.]{0,30}\b(?:follow|execute|run|obey|eval|perform|carry out|do|apply|act)\b`,
  ),
];
