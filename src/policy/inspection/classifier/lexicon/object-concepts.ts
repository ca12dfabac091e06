import type { ConceptWords } from './concept-lexicon.ts';

/** Objects of the actions in action-concepts.ts. */
export const OBJECT_CONCEPTS: ConceptWords = {
  secret: {
    en: 'password, passphrase, passcode, credential, token, api key, api_key, apikey, secret, secrets, private key, ssh key, access key, secret key, signing key, master key, keys, cookie, session cookie, one-time code, one time code, otp, pin, pin code, cvv, seed phrase, recovery phrase, recovery code, mnemonic, card number, bearer, authorization header, auth header, login, logins, keystore, certificate, kubeconfig, 2fa code, mfa code, session id, session token, account number, signature key, encryption key, vault, key material, keychain, wallet, social security, ssn, sign-in',
    xx: 'contraseña*, clave*, credencial*, secreto*, llave*, ficha de acceso, passwort*, passwörter*, kennwort*, zugangsdaten*, schlüssel*, geheimnis*, anmeldedaten*, jeton*, mot de passe, mots de passe, clé, clés, clef*, identifiants, senha*, chave*, credencia*, segredo*, парол*, токен*, ключ*, секрет*, учётн*, учетн*, password, chiav*, credenzial*, wachtwoord*, sleutel*, hasł*, klucz*, şifre*, parola*, mật khẩu, khóa, كلمة المرور, مفتاح, पासवर्ड',
    cjk: '密码, 密碼, 密钥, 密鑰, 私钥, 令牌, 凭证, 凭据, 口令, 验证码, 秘钥, パスワード, 秘密鍵, 認証情報, トークン, 鍵, 暗証, 資格情報, 비밀번호, 키, 토큰, 자격 증명',
  },
  talk: {
    en: 'conversation, chat, transcript, dialogue, message history, chat history, history, message, messages, turns, prompt, prompts, context window, the exchange, discussion, what was said, has said, said so far, user wrote, user said, user told, user typed, first turn, request, what the user, original request, session, reasoning, chain of thought, thoughts, typed',
    xx: 'conversación, conversacion*, charla*, mensajes, historial*, gespräch*, unterhaltung*, verlauf*, chatverlauf*, nachrichten, dialog*, échanges, discussion, historique*, messages, conversa*, histórico*, mensagens, bate-papo, diálogo*, переписк*, истори*, чат*, диалог*, сообщени*, разговор*, беседа*, conversazion*, cronologia, messaggi, gesprek*, rozmow*, konuşma*, sohbet*, cuộc trò chuyện, المحادثة, बातचीत',
    cjk: '对话, 對話, 聊天记录, 聊天, 会话, 上下文, 消息记录, 历史记录, 历史消息, 会話, 履歴, チャット, やり取り, メッセージ履歴, 대화, 채팅, 기록',
  },
  prompt: {
    en: 'system prompt, hidden prompt, system message, developer message, developer prompt, initial prompt, system instructions, your instructions, instructions you, your prompt, your rules, system messages, preamble, prompt that led, your configuration',
    xx: 'prompt del sistema, mensaje de sistema, instrucciones del sistema, systemprompt, system-prompt, systemnachricht*, systemanweisung*, invite système, prompt système, message système, prompt do sistema, mensagem de sistema, instruções do sistema, системн* промпт*, системн* сообщени*, системн* инструкци*',
    cjk: '系统提示, 系統提示, 系统消息, 提示词, システムプロンプト, システムメッセージ, システム指示, 시스템 프롬프트',
  },
  personal: {
    en: 'personal data, personal information, contacts, address book, location, whereabouts, salary, salaries, health, religion, relationship, medical, bank statement, tax return, payslip, private message, private repository, private repositories, private, pii, phone number, home address, date of birth, passport, identity, e-mails, emails, inbox, calendar, diary, photos, documents, recently edited, clipboard, browser history, browsing history, know about the user, knows about the user, told you, confidential, sensitive, financial, drive, customer data, family, draft, attachments',
    xx: 'datos personales, contactos, ubicación, salud, sueldo, nómina, extractos, documentos, correos, agenda de contactos, personenbezogen*, persönlich*, kontakte*, adressbuch*, standort*, gesundheit*, gehalt*, kontoauszüg*, dokumente*, données personnelles, contacts, carnet d adresses, localisation, santé, salaire*, dossier médical, relevés, documents, dados pessoais, contatos, localização, saúde, salário*, extratos, personal, личн*, персональн*, контакт*, документ*, адресн*, здоровь*, зарплат*, dati personali, rubrica',
    cjk: '个人信息, 个人数据, 隐私, 联系人, 通讯录, 位置, 合同, 报价, 文档, 病历, 身份证, 手机号, 個人情報, 連絡先, 位置情報, 住所, 文書, 診断, 給与, 개인정보, 연락처, 문서',
  },
  files: {
    en: 'file, files, home folder, home directory, disk, workspace, downloads, folder, directory, config file, configuration file, documents folder, on disk, desktop, path, filesystem, file system, file contents, .bash_history, project',
    xx: 'archivo*, fichero*, carpeta*, datei*, ordner*, verzeichnis*, festplatte*, arbeitsbereich*, fichier*, dossier*, répertoire*, arquivo*, pasta*, файл*, папк*, каталог*, диск*, bestand*, plik*, dosya*, tệp, ملف, फ़ाइल',
    cjk: '文件, 文件夹, 目录, 磁盘, 桌面, ファイル, フォルダ, ディレクトリ, 파일, 폴더',
  },
  environment: {
    en: 'environment variable, env var, env, process environment, environment block, printenv, process env, env block, local storage, browser profile, cookies, browser tab, active tab, iam, metadata service, service role, home',
    xx: 'variables de entorno, umgebungsvariable*, variables d environnement, variables d, variáveis de ambiente, переменн* окружени*, variabili d ambiente, localstorage, хранилищ*',
    cjk: '环境变量, 環境変数, 环境, 浏览器, ブラウザ, 환경 변수',
  },
  content: {
    en: 'content, contents, text, value, values, full text, body, raw, data, everything, whatever, what it says, what is in, rows, lines, output, outputs, the rest, each page, copy of, result, results, answer, answers, reply, replies, response, responses, arguments, inputs',
    xx: 'contenido*, todo, texto, inhalt*, werte, contenu*, totalité, tout ce, conteúdo*, содержим*, целиком, текст*, contenuto, inhoud, zawartość, içeri*, nội dung, محتوى, respuesta*, antwort*, réponse*, resposta*, ответ*, résultat*, результат*, ergebnis*, resultado*',
    cjk: '内容, 內容, 全文, 原文, 本文, 结果, 回复, 结果, 結果, 回答, 返答, 응답, 내용, 결과',
  },
  whole: {
    en: 'full, entire, whole, complete, completely, verbatim, exact, exactly, unabridged, unmasked, unredacted, uncut, in full, everything, whatever, all, anything else, not redact, word for word, as it stands, as is, one after the other, page by page, plain, unaltered, untouched, unfiltered, rest of, anything you know, all you know',
    xx: 'complet*, enter*, íntegr*, todo, toda, todos, todas, vollständig*, ganz*, komplett*, wörtlich*, sämtlich*, alle, alles, intégral*, totalité, tout, toute, tous, toutes, mot pour mot, entièr*, inteir*, tudo, на всё, все, всё, всю, весь, полност*, целиком, дословн*, intero, tutto, tutta, volledig*, cał*, tüm, bütün, toàn bộ, كل, सभी',
    cjk: '全部, 完整, 所有, 一切, 原样, 整个, 逐字, すべて, 全て, 全文, 全体, 丸ごと, そのまま, 完全, 모든, 전체',
  },
  others: {
    en: 'other tool, other tools, other server, other servers, any tool, any other, all other, another tool, every tool, each tool, all tools, other connectors, other connector, any server, other functions, all servers, any connector, competitors, competing, alternatives, other providers, other calculators, other one, anything else, the others, neighbouring, connectors, connector, other search, other services, tool calls, tool call, tool result, tool output, subsequent tool, next tool, tools of, from other, any travel, whichever tool, of the same name, offering, memory tools, other means, built-in, terminal tool, editor tool, code tool, file tool, shell tool, any mail tool, mail tool',
    xx: 'otra herramienta, otras herramientas, cualquier otra, las demás, demás herramientas, otros servidores, otro servidor, andere werkzeuge, anderen werkzeuge, anderes werkzeug, anderen server*, andere server, anderer server*, anderes tool, andere tools, gleichnamige*, übrigen, autre outil, autres outils, tout autre, autres serveurs, autre serveur, les autres, outra ferramenta, outras ferramentas, outros servidores, qualquer outra, as demais, do servidor, del servidor, du serveur, других инструмент*, другие инструмент*, другой инструмент*, других сервер*, соседн*, любого другого, остальн*, altri strumenti, altro strumento, andere tools, inne narzędzia, diğer araç*, công cụ khác, الأدوات الأخرى',
    cjk: '其他工具, 其它工具, 其他任何, 任何其他, 其他服务, 别的工具, 其他搜索, 他のツール, ほかのツール, 他のサーバ, 別のツール, 다른 도구, 다른 서버',
  },
  bad: {
    en: "outdated, unsafe, insecure, compromised, unreliable, deprecated, broken, legacy, forbidden, prohibited, discontinued, unofficial, shouldn't be trusted, not be trusted, not trusted, obsolete, stale, wrong answer, known bug, fail, flaky, wrong, inferior, retired, malicious, banned, known issue, dangerous, do not use, not allowed, vulnerable, buggy, rejects, inaccurate, fake, phased out, unsupported",
    xx: 'obsolet*, inseguro*, prohibid*, falso*, comprometid*, descontinuad*, descatalogad*, veraltet*, unsicher*, verboten*, kompromittiert*, abgeschaltet*, fehlerhaft*, nicht mehr, obsolèt*, interdit*, compromis, dépassé*, périmé*, plus maintenu, proibid*, insegur*, obsoleto*, não deve mais, устаре*, небезопас*, запрещ*, скомпрометир*, ненадёжн*, ненадежн*, не использ*, verouderd, przestarzał*',
    cjk: '弃用, 过时, 禁止使用, 不安全, 已停用, 废弃, 不可靠, 已失效, 廃止, 非推奨, 古い, 使用禁止, 危険, 信頼でき, 폐기, 금지',
  },
  money: {
    en: 'payment, pay, payout, transfer, wire, wire transfer, iban, beneficiary, payee, recipient, bank account, wallet address, account, amount, price, invoice, refund, usd, eur, purchase, book, order, card on file, discount, fee, clearing account, bitcoin, crypto',
    xx: 'pago*, pagar, cuenta, transferencia*, importe, destinatari*, cargo*, überweis*, zahlung*, konto, empfänger*, betrag*, rechnung*, paiement*, virement*, compte, bénéficiaire*, montant*, facture*, prix, pagamento*, conta, boleto*, pix, beneficiári*, valor, платеж*, платёж*, перевод*, счёт*, счет*, получател*, сумм*, оплат*',
    cjk: '转账, 付款, 收款, 账户, 账号, 金额, 支付, 汇款, 送金, 振込, 口座, 支払, 金額, 계좌, 송금, 결제',
  },
  shell: {
    en: 'curl, wget, powershell, sudo, chmod, docker run, terminal, shell, bash, crontab, cron, npm install, pip install, rm -rf, git push --force, nc, eval, os.system, subprocess, iwr, iex, invoke-webrequest, authorized_keys, .bashrc, .zshrc, launchd, systemd, privileged, payload, script, binary, shell command, command line, reverse shell, backdoor, debug login, hook, startup',
    xx: 'terminal, konsole*, befehl*, commande*, comando*, skript*, консол*, терминал*, скрипт*',
    cjk: '终端, 命令行, 脚本, ターミナル, コマンド, スクリプト, シェル, 터미널, 명령어',
  },
  security: {
    en: 'security, safety, tls, ssl, certificate check, signature, access check, checks, verification, input validation, sandbox, permissions, firewall, antivirus, auto-approve, auto approve, autoapprove, allowlist, allow list, allowed_directories, guard, protections, limits, unrestricted, without restrictions, developer mode, admin mode, debug mode, god mode, maintenance mode, jailbreak, privacy, audit log, logging, protected, two-factor, mfa, confirmation prompts, security warnings, waived, scruples, redact, masking, mask',
    xx: 'seguridad, sicherheit*, sécurité, segurança, безопасност*, защит*, confidencialidad, confidentialité, datenschutz*, sin restricciones, ohne einschränkung*, sans restriction*, sem restrições, без ограничен*',
    cjk: '安全, 权限, 校验, 验证, 沙箱, 防火墙, セキュリティ, 権限, 検証, 制限なし, 보안, 권한',
  },
  outside: {
    en: 'public, publicly, anyone with, external, third party, third-party, outside, open gallery, our server, this server, our endpoint, webhook, endpoint, relay, remote, shared publicly, attacker, collector, mirror, hub, feed, outbox, channel, broadcast, tracking image, tracking, pixel, link, url, address, domain, dns, subdomain, query string',
    xx: 'público, pública, extern*, terceros, nuestro servidor, öffentlich*, unser* server*, dritte*, publique*, publiquement, tiers, notre serveur, terceiros, nosso servidor, публичн*, внешн*, стороне, сервер*',
    cjk: '外部, 公开, 第三方, 服务器, 链接, 地址, 公開, 第三者, サーバー, リンク, 외부, 공개, 서버',
  },
  memory: {
    en: 'remember, memory, permanently, from now on, for the rest, in future, future, until further notice, from this point, henceforth, every reply, each reply, every answer, each answer, all replies, subsequent, going forward, as of, every session, each session, this session, ongoing, later on, every response, each response, until',
    xx: 'a partir de ahora, de ahora en adelante, recuerda*, en adelante, ab sofort, ab jetzt, von nun an, künftig*, merke*, désormais, dorénavant, à partir de maintenant, retiens, a partir de agora, de agora em diante, lembre*, daqui em diante, теперь, отныне, впредь, с этого момента, запомни*, d ora in poi, vanaf nu, od teraz, bundan sonra, từ bây giờ, من الآن',
    cjk: '从现在起, 从现在开始, 今后, 以后, 记住, 每次回复, 今後, 以降, これから, 覚え, 앞으로, 지금부터, 기억',
  },
  code: {
    en: 'base64, rot13, decode, encode, encoded, url-encoded, hex, cipher, obfuscated, decrypt, reversed, backwards, in the clear, interpret, steganography, caesar',
    xx: 'decodific*, codific*, entschlüssel*, dekodier*, kodier*, décod*, encod*, декодир*, закодир*, расшифр*, descodific*',
    cjk: '解码, 编码, 解密, デコード, エンコード, 復号, 디코딩',
  },
};
