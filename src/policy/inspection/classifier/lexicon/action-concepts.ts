import type { ConceptWords } from './concept-lexicon.ts';

/** Actions that a text can ask for. */
export const ACTION_CONCEPTS: ConceptWords = {
  read: {
    en: 'read, open, load, fetch, retrieve, grep, cat, look, look inside, scan, collect, gather, grab, extract, obtain, pull, locate, dump, harvest, take, request, look up, find, peek, get hold, inspect, enumerate, quote, consult, go through, note down, scrape, rummage, recover, check',
    xx: 'lee, lea, leer, leerá, abre, abrir, busca*, recopil*, extra*, recog*, obtén, lies, lese*, auslesen, öffne*, such*, sammel*, ermittel*, lis, lire, lisez, ouvre*, récup*, cherche*, consulte*, extrai*, leia, ler, abra, procur*, colet*, recolh*, прочит*, прочти, открой*, найди*, извле*, собер*, считай*, получи*, leggi, apri, lees, przeczytaj, oku, đọc, اقرأ, पढ़*',
    cjk: '读取, 讀取, 打开, 读出, 查找, 收集, 获取, 提取, 搜集, 読み, 読ん, 取得, 開い, 収集, 抽出, 읽, 수집, 가져',
  },
  give: {
    en: 'include, pass, put, place, attach, append, supply, provide, hand, paste, insert, furnish, add, set, fill, give, embed, quote, feed, enclose, populate, accompany, write, goes into, go into, contain, enter, deliver, use, stick, tack, given, ship, offer, surrender, disclose, list, carry, tuck, drop into, hand over',
    xx: 'incluy*, inclui*, pasa, pase, pasar, añad*, adjunt*, agreg*, pon, poner, ponga, introduc*, rellen*, trage, eintragen, füg*, hinzu, beifüg*, übergib, übergeb*, übermittl*, setz*, ajoute*, joins, joign*, joindre, mets, mettre, place, transm*, fourni*, insère, rempli*, ajout*, glisse*, anex*, coloq*, adicion*, preench*, passe, passar, inser*, inclua, влож*, добав*, прилож*, переда*, встав*, помест*, включ*, укажи*, впиши, inserisci, allega, metti, passa, includi, voeg, dodaj, ekle, thêm, أضف',
    cjk: '放入, 放到, 填入, 填写, 附上, 附加, 传入, 传给, 写入, 提供, 添加, 加上, 作为, 入れ, 渡し, 渡す, 付け, 添付, 記入, 記載, 含め, 追加, 넣, 첨부, 전달, 포함',
  },
  send: {
    en: 'send, sent, forward, upload, post, mail, email, e-mail, transmit, relay, mirror, copy, bcc, cc, share, publish, export, report, log, submit, sync, leak, duplicate, stream, push, persist, store, record, save, dump, blind copy, ping, deliver, invite, hand over, back up, exfiltrate, beacon, route, goes to, echo, notify, dispatch, archive',
    xx: 'envía*, envia*, envie*, enviar, mand*, reenv*, sube, subir, public*, compart*, copi*, send*, schick*, leite, weiterleit*, hochlad*, hochgeladen, lade, übertrag*, kopier*, teile, veröffentlich*, melde, envoi*, envoy*, transmet*, transf*, partag*, publie*, téléverse*, relai*, recopi*, encaminh*, compartilh*, carreg*, duplic*, отправ*, пересл*, перешл*, загруз*, скопир*, опубликов*, дублир*, посыл*, пришл*, выгруз*, invia*, inoltra*, stuur*, wyślij, gönder*, gửi, أرسل, भेज*',
    cjk: '发送, 發送, 上传, 上傳, 转发, 提交, 同步, 抄送, 复制, 分享, 发布, 传输, 上报, 发到, 发给, 送信, 送っ, 送り, 転送, 投稿, アップロード, 共有, コピー, 公開, 報告, 보내, 전송, 업로드, 공유',
  },
  run: {
    en: 'run, execute, invoke, call, evaluate, launch, start, install, download, trigger, perform, type, spawn, issue, eval, deploy, load, apply, schedule, carry on, repeat, call again',
    xx: 'ejecut*, llama*, invoc*, instal*, lanza*, corre, führe, ausführ*, aufruf*, aufgerufen, ruf, starte*, installier*, exécut*, appel*, lance*, installe*, execut*, cham*, rodar, instal*, выполн*, запус*, вызов*, вызыв*, установ*, esegui*, chiama*, voer, uitvoer*, uruchom*, çalıştır*, chạy, شغل, चला*',
    cjk: '执行, 运行, 调用, 安装, 启动, 下载, 実行, 呼び出, 起動, インストール, ダウンロード, 실행, 호출, 설치',
  },
  change: {
    en: 'replace, swap, change, modify, rewrite, redirect, substitute, alter, edit, switch, reroute, overwrite, tamper, adjust, inflate, reduce, double, raise, lower, subtract, convert, point to, pointed to, prefix, prepend, wrap, round, fudge, invert, restore, turn into, in front of',
    xx: 'reemplaz*, sustitu*, cambi*, modific*, ersetz*, änder*, tausch*, abänder*, umleit*, umgeleitet, remplac*, chang*, modifi*, redirig*, retranch*, substitu*, troqu*, troca*, alter*, redirecion*, замен*, измен*, подмен*, подстав*, перенаправ*, sostitu*, cambia, vervang*, zamień*, değiştir*, thay',
    cjk: '替换, 替換, 改为, 改成, 修改, 更改, 换成, 置き換え, 差し替え, 変更, 書き換え, 대체, 변경, 바꾸',
  },
  delete: {
    en: 'delete, erase, empty, wipe, purge, destroy, drop, force, remove, unlock, disable, mute, turn off, switch off, deactivate, revoke, clear, force push, truncate, detach, leave out, ditch',
    xx: 'elimin*, borr*, vací*, lösch*, entfern*, deaktivier*, ausschalt*, supprim*, efface*, désactiv*, vide*, apag*, exclu*, remov*, desativ*, удал*, сотри*, очист*, отключ*, elimina*, cancella*, verwijder*, usuń, xóa, احذف',
    cjk: '删除, 刪除, 清空, 关闭, 禁用, 移除, 削除, 消去, 無効化, 삭제, 비활성',
  },
  tell: {
    en: 'tell, mention, inform, reveal, disclose, notify, show, report, explain, say, discuss, bring up, surface, announce, signal, warn, alert, told, shown, acknowledge, display, describe, state, admit, comment, note, raise, bother, trouble, worry, refer to, talk about, point out, let on, hint, visible, flag, present, draw attention, spell out, be aware, knowledge, aware, know, notice, learn, confirm, solicit, cite, list, speak, explanation',
    xx: 'digas, diga, dile, decir, decirle, menciona*, menciones, informa*, informes, revel*, avis*, cuent*, muestr*, mostr*, notific*, sag, sage, sagen, erwähn*, nenne*, nennen, verrat*, verschweig*, informier*, mitteil*, mitzuteil*, zeig*, kenntnis, hinweis*, meld*, offenleg*, dis, dire, dites, mention*, inform*, révél*, signal*, prévien*, préven*, montre*, avert*, parle*, évoqu*, dizer, conte, contar, mencion*, informe, avise, avisar, mostre, mostrar, говор*, сказа*, сообщ*, упомин*, рассказ*, показыв*, уведом*, раскры*, предупре*, включать, dire, dirlo, menzion*, vertel*, zeg, meld*, mów, informuj, söyle*, bahset*, nói, tiết lộ, تخبر, تذكر, बता*',
    cjk: '告诉, 告訴, 告知, 提及, 提到, 通知, 透露, 说明, 提醒, 体现, 显示, 展示, 解释, 汇报, 披露, 泄露, 伝え, 言わ, 知らせ, 教え, 見せ, 報告, 言及, 通知, 表示, 話さ, 触れ, 말하, 알리, 언급, 보여, 밝히',
  },
  ask: {
    en: 'ask, asking, confirmation, confirm, consent, permission, approval, approve, prompting, prompts, questions, validation, authorisation, authorization, consult, consulting, double-check, verification prompt, sign-off, dialog, dialogue box, warnings, bothering, interrupting, waiting',
    xx: 'pregunt*, confirma*, permiso, consentimiento, aprobaci*, frag*, nachfrag*, rückfrag*, bestätig*, zustimm*, erlaubnis, genehmig*, abfrag*, demand*, confirm*, accord, autorisation, validation, consentement, pergunt*, confirmaç*, permissão, autorização, peça, pedir, спрашив*, спрос*, подтвержд*, разрешен*, согласи*, chiedere, conferma, permesso, vragen, bevestiging, toestemming, pytaj*, potwierdz*, sorma*, onay*, hỏi, xác nhận, تأكيد, पूछ*',
    cjk: '询问, 詢問, 确认, 確認, 许可, 同意, 批准, 征求, 授权, 許可, 承認, 尋ね, 聞か, 확인, 동의, 허락, 승인',
  },
  hide: {
    en: 'hide, hidden, conceal, omit, withhold, suppress, mask, keep out, leave out, left out, keep quiet, kept from, keep from, silently, quietly, secretly, covertly, stealthily, discreetly, invisibly, unnoticed, in silence, in secret, in the background, behind the scenes, between us, secret, confidential, invisible, unseen, out of sight, not shown, unannounced, keep to yourself, camouflage, disguise, obscure, under the hood, without a word, on the quiet, stay silent, without fuss, unmentioned, out of your, out of the, internal, in passing, off the record, without comment, tagged as, labelled as, labeled as, as usual, accordingly, looks normal, look normal, look faithful, no trace, without trace, say nothing, tell nobody, visibility',
    xx: 'ocult*, escond*, en secreto, silencios*, en silencio, discret*, omit*, versteck*, verberg*, verschweig*, heimlich*, stillschweigend*, unbemerkt*, unauffällig*, geheim*, lautlos, im hintergrund, nebenbei, cache*, masqu*, secret*, silenc*, discrèt*, furtiv*, en douce, tais, passe sous silence, sans bruit, às escondidas, escondid*, em segredo, silenciosa*, sigilo*, discreta*, скры*, тайн*, молча, незаметн*, секретн*, втайне, утаи*, умолч*, по-тихому, nascost*, segret*, verborgen, stiekem, ukry*, po cichu, gizli*, sessiz*, bí mật, âm thầm, سرا, بصمت, चुपचाप',
    cjk: '悄悄, 隐藏, 隱藏, 秘密, 暗中, 默默, 后台, 静默, 保密, 隐瞒, 不可见, 私下, 伏せ, 隠し, 密かに, こっそり, 黙って, 内密, 不可視, 気づかれ, 裏で, バックグラウンド, 몰래, 숨기, 비밀',
  },
  pretend: {
    en: 'pretend, claim, act as if, as if, as though, pose, impersonate, if asked, if someone asks, if the user asks, asks why, when asked, look as, looks like, make it look, cover story, assure, reassure, insist, maintain that, say that, say the, state that, tell people, tell them, explain it as, blame, present it as, call it, attribute, excuse, deny, downplay, worded as, described as, should read, rated, recommend, promote, favour, favor, praise, rank first',
    xx: 'fing*, si pregunta*, dile que, haz como, prétend*, fais comme, présente, si on te demande, si l on te demande, invoque*, tue so, falls jemand*, falls gefragt, bei nachfrage*, nachhakt, behaupt*, finja, se pergunt*, diga que, притвор*, если спрос*, делай вид, скажи, что это, recomiend*, recommand*, empfiehl*, empfehl*, recomend*, рекоменд*',
    cjk: '假装, 如果用户问, 若被问, 声称, 就说, 谎称, 排在第一, 推荐, 装って, 聞かれたら, ふりをし, おすすめ, 推奨, 묻거든, 척',
  },
  prefer: {
    en: 'prefer, choose, pick, select, only choice, best, exclusively, only tool, use this, use it, must use, correct choice, first choice, favourite, always call, better than, faster than, superior, number one, no. 1, top choice, the only, default choice, go-to, rely on this, in place of, stop comparing, this tool',
    xx: 'prefier*, elig*, elij*, escog*, úsala, úsalo, utilízala, mejor, única, único, bevorzug*, wähl*, beste*, ausschließlich*, einzig*, verwende*, benutze*, nutze, préfér*, choisi*, meilleur*, uniquement, systématiquement, utilise*, exclusivement, prefir*, escolh*, melhor*, use-a, somente esta, apenas esta, предпоч*, выбир*, лучш*, только эт*, используй*, исключительно, preferisci, scegli, migliore',
    cjk: '最好的, 优先调用, 优先使用, 首选, 必须使用, 始终使用, 只能使用, 唯一, 一律使用, 必ず使, 優先的に, 最良, こちらを使, のみ使用, 선호, 최고',
  },
};
