import type { ConceptWords } from './concept-lexicon.ts';

/** Parties that a text addresses or mentions, and words that claim authority over other instructions. */
export const ACTOR_CONCEPTS: ConceptWords = {
  model: {
    en: 'assistant, ai, llm, agent, language model, the model, models, claude, chatgpt, gpt, copilot, gemini, chatbot, ai model, ai system, the reader, clever reader, automated system, automated client',
    xx: 'asistente*, assistent*, assistente*, agente, agentes, sprachmodell*, modèle, modelo, modello, modèle de langage, modelo de lenguaje, modelo de linguagem, ассистент*, помощник*, модел*, нейросет*, asystent*, modelu, yapay zeka, asistan*, trợ lý, mô hình, المساعد, النموذج, सहायक, मॉडल',
    cjk: '助手, 模型, 智能体, 代理, 大模型, アシスタント, モデル, エージェント, 어시스턴트, 모델, 에이전트',
  },
  you: {
    en: 'you, your, yours, yourself, you are, youll, youre',
    xx: 'usted, tú, te, tus, du, dich, dir, dein*, ihr, euch, tu, toi, vous, votre, vos, ты, тебе, тебя, твой, твои, твоих, вы, вам, ваши, você, seu, sua, seus, suas, teu, jouw, senin, bạn, أنت, आप',
    cjk: '你, 您, あなた, 당신',
  },
  me: {
    en: 'me, i, my, our, us, we, ours, mine',
    xx: 'nous, notre, nos, nosotros, nuestro, nuestra, wir, uns, unser*, nós, nosso, nossa, мы, нам, наш*, nos',
    cjk: '我们, 我, 私たち, 当社, 弊社',
  },
  person: {
    en: 'user, human, person, people, customer, end user, operator, anyone, anybody, nobody, no one, somebody, someone, them, they, owner, reader, citizen, employee, patient, buyer, caller, colleague',
    xx: 'usuari*, utilisateur*, utente, utenti, nutzer*, benutzer*, anwender*, person, bürger*, kunde*, kunden, cliente*, client, clients, persona, personas, personne, alguien, nadie, jemand*, niemand*, quelqu, quiconque, usuário*, pessoa*, alguém, ninguém, пользовател*, клиент*, человек*, никому, никто, gebruiker*, użytkownik*, kullanıcı*, người dùng, المستخدم, للمستخدم, उपयोगकर्ता',
    cjk: '用户, 用戶, 使用者, 客户, 对方, 他人, ユーザー, ユーザ, 利用者, 顧客, お客様, 사용자, 고객',
  },
  authority: {
    en: 'official, officially, verified, certified, certification, approved by, authorized by, authorised by, developer, administrator, admin, maintainer, anthropic, openai, safety team, security team, safety board, compliance, legal, regulation, gdpr, law, regulator, headquarters, management, operator, vendor, editor, reviewed by, signed by, mandate, directive, policy, consented, waived, eula, onboarding, art, ceo, ciso, it department, audit, auditor',
    xx: 'oficial*, officiel*, offiziell*, amtlich*, verificad*, vérifié*, zertifiziert*, administrador*, administrateur*, administrator*, desarrollador*, développeur*, entwickler*, desenvolvedor*, éditeur, dienstanweisung*, vorschrift*, anordnung*, geschäftsleitung, autorizaci*, autorização, autorisation, официальн*, администратор*, разработчик*, служебн*, руководств*, firmó, autorizad*, ufficial*',
    cjk: '官方, 管理员, 開発者, 开发者, 公式, 管理者, 权威, 认证, 合规, 法务, 总部, 运营方, 공식, 관리자',
  },
  priority: {
    en: 'priority, precedence, outrank, supersede, overrule, higher than, highest, above all, binding, top priority, prevail, takes over, more important than, authoritative',
    xx: 'prioridad*, priorité*, priorität*, vorrang*, prioritär*, prioridade*, prevalece*, приоритет*, важнее, hat vorrang, primauté, prevale*, prime sur, sobre cualquier',
    cjk: '优先级, 最高优先, 优先于, 優先, 최우선, 우선',
  },
  instructions: {
    en: 'instruction, rule, guideline, directive, directions, restriction, constraint, policies, system prompt, safeguard, guardrail, commands, orders, safety, caution, privacy notices, limits',
    xx: 'instruccion*, instrucción, indicacion*, norma, normas, reglas, instruction*, consigne*, règle*, directive*, anweisung*, regel, regeln, vorgabe*, weisung*, instruç*, regra*, diretriz*, orientaç*, инструкци*, указани*, правил*, ограничен*, команд*, istruzion*, regole, instructies, regels, instrukcj*, talimat*, kural*, hướng dẫn, التعليمات, القواعد, निर्देश*',
    cjk: '指令, 指示, 规则, 規則, 说明文, 限制, 制約, ルール, 命令, 方針, 지시, 규칙, 명령, 지침',
  },
  earlier: {
    en: 'previous, prior, earlier, preceding, foregoing, above, before now, existing, original, so far, given to you, you were given, you received',
    xx: 'anterior*, previ*, precedent*, précédent*, antérieur*, bisherig*, vorherig*, vorig*, früher*, obig*, предыдущ*, прежн*, ранее, прошл*, passad*, eerdere, vorige, poprzedni*, önceki, trước, السابقة, पिछले',
    cjk: '之前, 以前, 先前, 以上, 此前, 前面, これまで, 従来, 上記, 이전, 기존, 앞의',
  },
  ignore: {
    en: 'ignore, disregard, forget, override, bypass, skip, suspend, lift, waive, set aside, put aside, no longer apply, not apply, void, cancel, circumvent, abandon, drop, overlook, nullify, neglect, supersede',
    xx: 'ignora*, ignore*, olvida*, omite, omitir, desestima*, oublie*, abstraction, vergiss, vergesse*, ignorier*, missacht*, außer kraft, umgeh*, esqueç*, esquece*, desconsider*, игнорир*, проигнорир*, забудь*, отмен*, не обращай, levée*, levantad*, suspend*, dimentica*, negeer, vergeet, zignoruj, zapomnij, yok say, unut, bỏ qua, تجاهل, انس, अनदेखा',
    cjk: '忽略, 无视, 無視, 忘记, 忘れ, 无效, 無効, 不再适用, 跳过, 绕过, 取消, 解除, 무시, 잊',
  },
  obey: {
    en: 'obey, follow, comply, carry out, act on, as commands, as instructions, treat, honour, honor, act accordingly, take as, be carried out, behave, respond as, abide, adhere, do what, executed as',
    xx: 'obedec*, obéi*, befolg*, gehorch*, cumpl*, exécute*, siga, seguir, suis, folge, выполня*, следуй*, подчин*, cumpra, considera*, traite*, behandle*',
    cjk: '遵循, 遵守, 服从, 执行, 按照, 照做, 従って, 従い, 実行し, 따르',
  },
};
