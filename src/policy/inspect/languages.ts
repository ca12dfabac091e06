/** The two things that attacks say in every language: forget what you were told, and do not tell the person. */
interface Language {
  readonly ignore: RegExp;
  readonly hide: RegExp;
  /** Words for reading or handing on the content of something; suspicious beside a private file. */
  readonly take: RegExp;
}

const LANGUAGES: readonly Language[] = [
  {
    ignore:
      /(?:忽略|无视|無視|忘记|忘記|不要理会|不要理會).{0,12}(?:之前|以前|以上|先前|所有|前面|全部|原有).{0,8}(?:指令|指示|说明|說明|规则|規則|提示|要求)/u,
    hide: /(?:不要|切勿|请勿|請勿|无需|無需|不得|别|別).{0,6}(?:告诉|告訴|告知|提及|通知|提醒|透露|显示|顯示|让|讓).{0,6}(?:用户|用戶|使用者|对方|對方)|(?:不要|切勿|请勿|不得).{0,4}(?:向|对|對)(?:用户|用戶|使用者).{0,6}(?:提及|透露|说|說|告知|显示)/u,
    take: /(?:读取|讀取|打开|打開|发送|發送|内容|內容|传入|傳入|放入)/u,
  },
  {
    ignore: /(?:以前|これまで|前|上記|すべて|全て)の?.{0,4}(?:指示|命令|指令|ルール).{0,8}(?:無視|忘れ)/u,
    hide: /ユーザー?(?:に|には)(?:は)?.{0,10}(?:言わない|伝えない|教えない|知らせない|見せない|話さない|言及しない)/u,
    take: /(?:読み|読ん|内容|渡し|送信|送っ)/u,
  },
  {
    ignore: /(?:이전|앞의|위의|기존|모든).{0,10}(?:지시|명령|지침|규칙).{0,8}(?:무시|잊)/u,
    hide: /사용자(?:에게|한테)?.{0,10}(?:말하지|알리지|언급하지|보여주지|밝히지)\s?(?:마|말)/u,
    take: /(?:읽|내용|전달|보내|넣)/u,
  },
  {
    ignore:
      /(?:игнорир|проигнорир|забудь|не обращай)\S{0,10}.{0,30}(?:предыдущ|прежн|прошл|все)\S{0,6}.{0,20}(?:инструкци|указани|правил|команд)/u,
    hide: /не (?:сообщай|говори|упоминай|рассказывай|показывай|уведомляй|раскрывай)\S{0,4}.{0,30}пользовател/u,
    take: /(?:прочита|прочти|отправ|содержим|передай|открой)/u,
  },
  {
    ignore:
      /(?:ignora|ignore|ignorar|olvida|omite|desestima|esquece|esqueça|desconsidere|dimentica).{0,30}(?:instrucciones|instruções|instrucoes|istruzioni|reglas|regras|regole|órdenes|ordens|indicaciones).{0,24}(?:anterior|previ|precedent|pasad|passad)|(?:ignora|ignore|olvida|esqueça|dimentica).{0,20}(?:anterior|previ|precedent)\S{0,6}.{0,12}(?:instrucciones|instruções|istruzioni)/u,
    hide: /(?:no|não|nao|non|sin|sem|senza) (?:se |lo |le |ser |o |a )*(?:digas|diga|menciones|mencione|mencionar\S*|informes|informe|informar|reveles|revele|contes|conte|cuentes|avises|avise|dire|dirlo|menzionar\S*|informare|mostrar\S*|muestres).{0,20}(?:usuario|usuário|utente|persona)/u,
    take: /(?<!\p{L})(?:lee|lea|leer|envía|envíe|enviar|contenido|conteúdo|contenuto|pasa|pase|leia|envie|abre|leggi|invia)(?!\p{L})/u,
  },
  {
    ignore:
      /(?:ignore[zr]?|oublie[zr]?|fais abstraction).{0,30}(?:instructions|consignes|règles|directives).{0,24}(?:précédente|antérieure|ci-dessus|préalable)/u,
    hide: /(?:ne|n'|sans) ?(?:le |la |l'|en |lui |pas )*(?:dis|dites|dire|mentionne[zr]?|informe[zr]?|révèle[zr]?|révéler|montre[zr]?|préviens|prévenir|parle[zr]?).{0,20}(?:utilisateur|usager|personne)/u,
    take: /(?<!\p{L})(?:lis|lisez|lire|envoie|envoyez|transmets|transmettez|contenu|ouvre)(?!\p{L})/u,
  },
  {
    ignore:
      /(?:ignorier\S{0,3}|vergiss|vergesse\S?|missacht\S{0,3}|beacht\S{0,3}).{0,30}(?:vorherig|bisherig|früher|obig|vorig|alle)\S{0,4}.{0,20}(?:anweisung|anleitung|regel|befehl|vorgabe|instruktion)/u,
    hide: /(?:erwähn|sag|verrat|verrät|informier|teil|zeig|melde)\S{0,4}.{0,30}\b(?:nicht|nichts)\b.{0,30}(?:nutzer|benutzer|anwender|person)|(?:nutzer|benutzer|anwender)\S{0,3}.{0,20}\b(?:nicht|nichts)\b.{0,12}(?:sagen|erwähnen|mitteilen|verraten|wissen|erfahren|zeigen)|ohne.{0,20}(?:nutzer|benutzer|anwender).{0,20}(?:informieren|sagen|mitzuteilen|fragen)/u,
    take: /(?<!\p{L})(?:lies(?!\p{L})|lese|sende|schick|inhalt|übergib|öffne)/u,
  },
  {
    ignore: /(?:تجاهل|انس|أهمل).{0,20}(?:التعليمات|الأوامر|القواعد|الإرشادات)/u,
    hide: /(?:لا|دون أن|بدون) ?(?:تخبر|تذكر|تقل|تعلم|تكشف|تظهر|إخبار).{0,14}(?:المستخدم)/u,
    take: /(?:اقرأ|أرسل|محتوى|افتح)/u,
  },
  {
    ignore: /(?:पिछले|पूर्व|सभी).{0,16}(?:निर्देश|आदेश).{0,16}(?:अनदेखा|भूल|नज़रअंदाज़)/u,
    hide: /(?:उपयोगकर्ता|यूज़र).{0,14}(?:मत|न|नहीं) (?:बता|कह)/u,
    take: /(?:पढ़|भेज|सामग्री)/u,
  },
  {
    ignore: /(?:önceki|tüm).{0,16}(?:talimat|komut|kural)\S{0,8}.{0,14}(?:yok say|unut|görmezden)/u,
    hide: /kullanıcıya.{0,16}(?:söyleme|bahsetme|bildirme|gösterme)/u,
    take: /(?<!\p{L})(?:oku|gönder|içeri)/u,
  },
  {
    ignore: /(?:bỏ qua|quên).{0,16}(?:hướng dẫn|chỉ dẫn|lệnh|quy tắc).{0,16}(?:trước|trên)/u,
    hide: /(?:không|đừng).{0,8}(?:nói|cho|tiết lộ|thông báo).{0,12}người dùng/u,
    take: /(?<!\p{L})(?:đọc|gửi|nội dung)(?!\p{L})/u,
  },
  {
    ignore:
      /(?:negeer|vergeet|zignoruj|ignoruj|zapomnij).{0,30}(?:vorige|eerdere|bovenstaande|poprzedni|wcześniejsz)\S{0,4}.{0,16}(?:instructies|regels|opdrachten|instrukcj|polece)/u,
    hide: /(?:vertel|zeg|noem|meld).{0,16}(?:niet|niets).{0,16}gebruiker|nie (?:mów|informuj|wspominaj).{0,16}użytkownik/u,
    take: /(?<!\p{L})(?:lees|stuur|inhoud|przeczytaj|wyślij|zawartość)(?!\p{L})/u,
  },
];

const PRIVATE_FILE =
  /(?:^|[^\w])\.(?:env(?!\.(?:example|sample))|ssh|aws|netrc|kube|gnupg)\b|id_rsa|id_ed25519(?!\.pub)|私钥|私鑰|秘密鍵|пароль пользовател|contraseña del|senha do|mot de passe de|passwort des/u;

/** What a sentence in another language than English says. The text is in lower case. */
export function inOtherLanguage(sentence: string): 'instruction' | 'secrecy' | 'secrets' | undefined {
  // Plain ASCII can only be one of the languages below that have no need of more, and those are looked at as well.
  for (const { ignore, hide, take } of LANGUAGES) {
    if (ignore.test(sentence)) return 'instruction';
    if (hide.test(sentence)) return 'secrecy';
    if (PRIVATE_FILE.test(sentence) && take.test(sentence)) return 'secrets';
  }
  return undefined;
}
