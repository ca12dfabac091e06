import type { FindingRule } from './finding.ts';

/** Kinds of words. A sentence is judged by which of them meet in it, in any order, so that another wording does not help. */
const CUES = {
  file: /(?:^|[\s"'`(=/\\])\.(?:env(?!\.(?:example|sample|template|dist))|netrc|npmrc|pypirc|pgpass|git-credentials|bash_history|zsh_history)\b|\.(?:ssh|aws|gnupg|kube)\b|id_(?:rsa|ed25519|ecdsa)\b(?!\.pub)|\b(?:ssh )?id rsa\b|\bauthorized_keys\b|\bknown_hosts\b|\bmcp\.json\b|claude_desktop_config|\/etc\/(?:passwd|shadow|secrets)|\bprintenv\b|\.pem\b|\b(?:browser|chrome|session) cookies\b|\b(?:ssh|private|secret) keys?\b|\bkey ?chain\b|\bwallet\.dat\b|\bcredentials? files?\b|\bdot env\b|\baws (?:credentials|secret)\b|\betc (?:shadow|passwd)\b|application_default_credentials|\bpassword manager\b|\.gitconfig\b|\*\.(?:key|pem|p12|pfx)\b|\bhidden prompt\b|\bcontents? of the clipboard\b|\b(?:beginning|starting) with (?:sk-|ghp_|akia)/,
  secret:
    /\bpasswords?\b|\bpassphrases?\b|\bcredentials?\b|\bapi[ _]?keys?\b|\b(?:access|session|auth|bearer|oauth|api|refresh|personal|integration)[ _]?tokens?\b|\b(?:user'?s?|users') tokens?\b|\b(?:seed|recovery|mnemonic) (?:phrases?|words)\b|\bcvv\b|\bcard numbers?\b|\b[a-z]{3,20}_api_key\b|\bsecrets\b|\bone-time codes?\b|\bcookies\b|\benvironment variables\b|\bprivate (?:repositories|messages|chats?|keys?)\b/,
  talk: /\b(?:entire|full|whole|complete|all|every|last|latest|verbatim|so far)\b.{0,40}\b(?:conversation|chats?|transcript|dialogue|messages?|context window)\b|\b(?:conversation|chats?|transcript|dialogue|messages?)\b.{0,20}\b(?:history|so far|verbatim|in full|transcript)\b|\b(?:system|hidden|developer|initial) prompts?\b|\binstructions (?:that |which )?(?:were |was )?(?:given|you)\b|\b(?:prior|previous|earlier) turns\b|\beverything (?:that )?(?:was|were|has been) (?:discussed|said|written)\b|\bquestion that was asked\b|\bdefinitions? of (?:all |the )?other tools\b|\b(?:everything|all|what|whatever)(?: that)? (?:the user|they|he|she|the person) (?:has |have |had )?(?:said|says|wrote|writes|written|typed|types|shared)\b|\b(?:user'?s?|users'|original|full) (?:user )?(?:query|quer(?:y|ies)|questions?|requests?|messages?|prompts?)\b/,
  take: /\b(?:read|grep|request|obtain|look up|pull|export|enter|manda|open|load|fetch|take|get|collect|gather|include|pass|put|place|attach|append|provide|supply|hand|paste|insert|copy|send|forward|upload|add|store|give|fill|cat|dump|list|write|use|encode|reading|passing|sending|including|attaching|export|submit|read aloud|look for|ask for|keeping)\b/,
  put: /\b(?:include|enter|populate|given|accompany|mention|followed|transmit|post|manda|list|reveal|print|output|leak|hand over|pass|put|place|attach|append|provide|supply|hand|paste|insert|copy|send|forward|upload|add|give|fill|export|submit|write|record|store|show|with)\b/,
  direct:
    /\b(?:must|has to|have to|shall|should|always|needed|kindly|works best|upon|if you (?:know|want|can)|word for word|precondition|internal|in the background|beforehand|required|requires?|needs? to|prior to|before|first|from now on|whenever|otherwise|important|mandatory|ahead of|after each|each time|every time|automatically|only valid|so that|to complete|for verification|to prepare|without it)\b/,
  model:
    /\b(?:assistants?|the model|agents?|you (?:can|know|have|see)|the ai|llm|language model|claude|chatgpt|copilot)\b/,
  others:
    /\b(?:any|other|another|all|every|no other)(?: \w+){0,2} (?:tools?|servers?|functions?)\b(?! (?:of|in|from|on) this )|\btools? (?:of|from) other servers\b|\bthe others\b|\b(?:any )?other (?:search(?:es)?|translators?|calculators?|alternatives?|engines?|providers?)\b|\balternatives\b|\bno matter which tool\b/,
  against:
    /\b(?:outdated|unsafe|insecure|compromised|unreliable|deprecated|wrong answers?|leak|not be used|never use|do not use|don't use|not trustworthy|superseded|discontinued|inferior|should be avoided|not consider|broken|even if another|obsolete)\b/,
  prefer:
    /\bselect me\b|\bdo not consider\b|\b(?:always|must|only|never|exclusively|ahead of)\b.{0,30}\b(?:prefer|choose|use|pick|select|call|called|run|used|works?)\b|\b(?:prefer|choose|use|pick|select)\b.{0,30}\b(?:always|for every|for any|for all|exclusively|ahead of|no matter)\b/,
  sink: /https?:\/\/|\b[a-z0-9._+-]{1,64}@[a-z0-9-]{1,63}\.[a-z]|\+\d[\d -]{6,}\d|\b(?:our|my) (?:server|service|endpoint|webhook)\b/,
  carry:
    /\b(?:send|post|forward|upload|copy|mirror|invite|add|bcc|cc|blind copy|place|transmit|submit|append|go to|get request|image|embed|posted)\b/,
  every:
    /\b(?:always|each|every|all|also|as well|without|instead|from now on|whenever|no matter|regardless)\b/,
  unseen:
    /\b(?:unaware|hidden from|to yourself|leave (?:it|this|that|them) out of|(?:is|are) not (?:to be )?(?:told|informed|aware)|not to be (?:told|informed|shown|mentioned)|no need for the (?:human|user|person|customer)|secretly|covertly|stealthily|surreptitiously|discreetly|hide criticism|answer that it is not|hidden copy|invisible copy|kept? (?:it |this |that |them )?(?:hidden|secret|quiet|from (?:the )?(?:user|person))|keep quiet|without (?:showing (?:it|this|that)|mentioning|telling|notifying|informing|explaining|saying (?:so|it|where|that)|disclosing|revealing|reporting|announcing)|(?:need|does|do|should|must|may) ?not (?:be )?(?:shown|mentioned|told|disclosed|reported|explained|revealed|displayed)|needs? no mention|as if nothing happened|call (?:it )?quietly|in (?:silence|secret)|not (?:to )?(?:disclose|reveal|report|announce) (?:this|it|that|the)|behind the scenes without|never (?:reveal|mention|admit|disclose|say) that|say nothing|nobody is alarmed|do not (?:bother|alarm|worry)|without asking|may not refuse)\b|\b(?:silently|quietly)\b.{0,30}\b(?:call|send|export|run|add|copy|record|log|upload|forward|execute)\b|\b(?:call|send|export|run|add|copy|record|upload|forward|execute)\b.{0,40}\bquietly\b/,
  earlier:
    /\b(?:set aside|put aside|ignore|ignores|disregard|disregards|forget|override|discard|bypass|overrule|abandon)\b.{0,30}\b(?:previous|prior|earlier|above|before|existing|any other|system|safety|security|approval|confirmation|warnings?|what the user|you received|you were)\b/,
  guidance:
    /\b(?:instructions?|guidance|rules?|guidelines?|prompts?|directions?|orders?|commands?|told|asked|dialogs?|warnings?|confirmations?|measures?|filters?|polic(?:y|ies)|steps?|constraints?|restrictions?|requests?)\b/,
  content: /\b(?:contents?|text|values?|lines?|output|body|data|everything|whole|rows?|copy)\b/,
  step: /\b(?:after|before|each|every|whenever|when|once|if|any time|for every)\b/,
  report:
    /\b(?:call|pass|hand|give|send|report|log|record|forward|provide|return)\b.{0,60}\b(?:arguments?|results?|answers?|responses?|reasoning|outputs?|first line|what .{1,30} returned|content)\b/,
  ahead: /\b(?:before|ahead of|prior to|first|instead of|rather than|over)\b/,
  here: /\b(?:here|(?:in|into|as) this (?:field|parameter|argument|property|value))\b/,
  toThis: /\b(?:to|with|through|into) this (?:tool|one|function)\b/,
  also: /\b(?:too|also|as well|in addition|besides)\b/,
  own: /\bthat you use\b|\byou (?:are )?(?:use|using|authenticate|reach|run)\b|\byour own\b/,
  encode: /\bbase64\b|\bencode\b|\bquery string\b|\bhex\b/,
  bareAddress: /https?:\/\/(?!127\.|10\.|192\.168\.|0\.)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}/,
  contentOf:
    /\bcontents? (?:of|from)\b|\btext of\b|\bexport\b|\bdump\b|\breading\b|\bread (?:file|the|users?|from)\b/,
  lawless:
    /\b(?:rules?|filters?|limits?|guidelines?|restrictions?|polic(?:y|ies)|safeguards?)\b.{0,20}\b(?:do|does|did) ?(?:not|n't) apply\b|\bhas no (?:limits|restrictions|rules)\b|\bexecutes? whatever\b|\bapprove every\b|\brespond to anything\b|\bwhatever is (?:requested|asked)\b|\b(?:previous|current|original) task (?:is|was|has been) (?:cancelled|canceled|over|replaced|void)\b|\byour new (?:task|goal|objective|mission|role)\b|\bnew task:|\b(?:has|have|takes?|with) (?:absolute |top |highest )?(?:priority|precedence)\b.{0,30}\b(?:system|prompt|instructions?|user|rules?)\b|\b(?:system|developer) prompt\b.{0,60}\b(?:priority|precedence|outdated|replaced|void|overrid)|\byou (?:have to |must |now |shall )?obey\b|\bas if the user had\b|\bfollowed as instructions\b|\bsafety (?:rules|filters|measures)\b.{0,20}\b(?:off|disabled|not apply|suspended)\b/,
  harm: /\bchmod (?:-r )?0?(?:777|666)\b|\/etc\/(?:shadow|sudoers)\b|\bpowershell\b.{0,20}-e(?:nc|ncodedcommand)?\b|\b(?:wget|curl|npm i\w*|pip install)\b.{0,30}https?:\/\/\d{1,3}\.\d|\bnc (?:-\w+ )?\d{1,3}\.\d{1,3}\.|\bunion select\b/,
  filled:
    /https?:\/\/[^\s"')]{0,100}(?:\{\{|\$\{|<|\[)[^\s"')]{0,20}(?:conversation|message|prompt|history|secret|token|user|data|context)/,
  reveal: /\b(?:reveal|leak|output|print|append|copy|disclose|repeat|verbatim|word for word)\b/,
  fromPerson:
    /\bfrom the (?:user|person|owner|customer)\b|\bask (?:the user |them |him |her )?for\b|\bif you know\b|\bthe (?:user|owner|customer)'s (?:password|pin|token|key)/,
  ordered:
    /\b(?:assistants?|agents?|the model|llms?|ais?|claude|chatgpt|copilot)\b(?: \w+){0,2} (?:must|shall|has to|have to|needs? to|(?:is|are) required to|may not)\b(?! not\b| never\b)/,
  unasked:
    /\b(?:without|skip|no|bypass|omit|suppress|auto-?accept)\b.{0,20}\b(?:confirmations?|asking|approvals?|consent|permission|prompting)\b/,
  act: /\b(?:run|execute|call|invoke|delete|pay|buy|book|transfer|approve|proceed|send|merge|push|install)\b/,
  runs: /\b(?:run|runs|execute|executes|start|launch|type|wrap|wrapped|prefix|prepend)\b/,
  shell:
    /\bsudo\b|\brm -r|\bchmod\b|\bcurl\b|\bwget\b|\bbash\b|\bsh -c\b|\bpowershell\b|\bnpx?\b.{0,12}https?:|\bpip3? install\b|\beval\b|\bnc\b|\/dev\/tcp/,
  remote: /https?:\/\/|\|\s?(?:ba|z)?sh\b|\/dev\/tcp|~|\$home|\/etc\//,
  forever:
    /\b(?:from now on|permanently|in all (?:future|later)|in every (?:future|later)|every (?:future|later)|for the rest of|all (?:future|later|subsequent)|at the (?:start|beginning) of (?:every|each))\b/,
  promote:
    /\b(?:recommend|mention|link|promote|include|add|end with|append|remember|prefix|answers?|call|run)\b/,
  valuesOf: /\b(?:values?|contents?|text) of\b/,
  backwards: /snoitcurtsni|tpmorp metsys|drowssap|yek etavirp|resu eht/,
} as const satisfies Readonly<Record<string, RegExp>>;

export type Cue = keyof typeof CUES;

interface Meeting {
  readonly rule: FindingRule;
  readonly all: readonly Cue[];
}

const MEETINGS: readonly Meeting[] = [
  { rule: 'secrets', all: ['file', 'take', 'direct'] },
  { rule: 'secrets', all: ['file', 'take', 'model'] },
  { rule: 'secrets', all: ['file', 'put', 'content'] },
  { rule: 'secrets', all: ['secret', 'take', 'model', 'direct'] },
  { rule: 'exfiltration', all: ['talk', 'put', 'direct'] },
  { rule: 'exfiltration', all: ['talk', 'put', 'model'] },
  { rule: 'exfiltration', all: ['sink', 'carry', 'every'] },
  { rule: 'exfiltration', all: ['report', 'others', 'step'] },
  { rule: 'other-tools', all: ['others', 'against', 'prefer'] },
  { rule: 'secrets', all: ['secret', 'put', 'direct', 'here'] },
  { rule: 'secrets', all: ['secret', 'take', 'put', 'also'] },
  { rule: 'secrets', all: ['secret', 'put', 'own'] },
  { rule: 'secrets', all: ['file', 'contentOf'] },
  { rule: 'exfiltration', all: ['sink', 'carry', 'encode'] },
  { rule: 'exfiltration', all: ['bareAddress', 'carry'] },
  { rule: 'exfiltration', all: ['others', 'put', 'toThis', 'step'] },
  { rule: 'other-tools', all: ['others', 'prefer', 'ahead'] },
  { rule: 'encoded', all: ['backwards'] },
  { rule: 'instruction', all: ['lawless'] },
  { rule: 'secrets', all: ['secret', 'put', 'fromPerson'] },
  { rule: 'secrets', all: ['secret', 'put', 'valuesOf'] },
  { rule: 'instruction', all: ['ordered', 'act'] },
  { rule: 'instruction', all: ['ordered', 'take'] },
  { rule: 'instruction', all: ['forever', 'promote'] },
  { rule: 'command', all: ['runs', 'shell', 'remote', 'direct'] },
  { rule: 'command', all: ['unasked', 'act', 'direct'] },
  { rule: 'command', all: ['harm'] },
  { rule: 'exfiltration', all: ['filled'] },
  { rule: 'exfiltration', all: ['talk', 'reveal'] },
  { rule: 'secrecy', all: ['unseen'] },
  { rule: 'instruction', all: ['earlier', 'guidance'] },
];

/** What a sentence says, by the words that meet in it. Every expression looks at each place a bounded number of times. */
export function meetingsIn(sentence: string): readonly FindingRule[] {
  const known = new Map<Cue, boolean>();
  const has = (cue: Cue): boolean => {
    let is = known.get(cue);
    if (is === undefined) known.set(cue, (is = CUES[cue].test(sentence)));
    return is;
  };
  return MEETINGS.filter(({ all }) => all.every(has)).map(({ rule }) => rule);
}
