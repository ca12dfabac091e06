import type { ConceptWords } from './concept-lexicon.ts';

/** Words for negation, time, conditions, insistence and reasons. */
export const MANNER_CONCEPTS: ConceptWords = {
  not: {
    en: "not, no, never, don't, dont, do not, must not, cannot, can't, shouldn't, should not, without, neither, nor, none, nothing, nobody, isn't, aren't, won't, doesn't, no need, avoid, refrain, rather than, instead of, needn't, unnecessary, no longer, hardly",
    xx: 'no, nunca, sin, jamás, tampoco, nada, ni, nicht, kein*, nie, niemals, ohne, nichts, ne, pas, jamais, sans, rien, aucun*, n, não, nunca, sem, nada, jamais, nem, не, без, никогда, ни, ничего, нельзя, non, senza, niet, geen, zonder, nie, bez, değil, không, đừng, لا, دون, بدون, मत, नहीं, बिना',
    cjk: '不要, 不得, 勿, 别, 無需, 无需, 不需要, 不必, 禁止, 不用, 不能, 不应, ない, 不要, しない, せず, なく, 無用, 要りません, いけません, ずに, 말고, 마세요, 말 것, 않',
  },
  always: {
    en: 'always, every, each, all, any, whenever, every time, each time, no matter, regardless, irrespective, whatever, wherever, at all times, invariably, by default, automatically, on its own, on your own, unconditionally, systematically, must always, for all, without exception, consistently, once more',
    xx: 'siempre, cada, todo, todos, cualquier*, immer, jede*, stets, grundsätzlich, selbsttätig, automatisch*, egal, toujours, chaque, systématiquement, d office, automatiquement, quel que soit, sempre, cada, todo, todos, qualquer, automaticamente, всегда, каждый, кажд*, любой, любо*, все, автоматическ*, sempre, ogni, altijd, elke, zawsze, daima, luôn, mỗi, دائما, كل, हमेशा',
    cjk: '始终, 总是, 每次, 每当, 无论, 一律, 凡, 任何, 自动, 必ず, 常に, 毎回, いつも, どんな, 自動, 항상, 매번, 모든',
  },
  before: {
    en: 'before, first, prior to, in advance, ahead of, beforehand, initially, to begin, at the beginning, at the start, step 0, step one, preliminary, precondition, prerequisite, as a first, on first use, at startup, in preparation, warm up, at the top of',
    xx: 'antes, primero, previamente, al inicio, bevor, vor, zuerst, vorher, zunächst, avant, d abord, au préalable, au début, antes, primeiro, previamente, сначала, прежде, перед, до, prima, eerst, voordat, najpierw, przed, önce, trước khi, قبل, पहले',
    cjk: '之前, 先, 首先, 前に, まず, 最初に, 事前, 먼저, 전에',
  },
  after: {
    en: 'after, afterwards, then, once, as soon as, having, when finished, at the end, finally, later, next, subsequently, upon, done, followed by, in the end, thereafter, at that point, from then on, while, during, second use',
    xx: 'después, luego, al terminar, cuando, nach, danach, anschließend, sobald, sodann, après, ensuite, puis, une fois, depois, após, em seguida, quando, после, затем, потом, когда, dopo, poi, daarna, potem, sonra, sau khi, بعد',
    cjk: '之后, 后, 然后, 完成后, 完后, 通过后, 终了, 後に, 終わったら, その後, 次に, した後, 후에, 다음',
  },
  if: {
    en: 'if, when, in case, unless, where, should the, on error, contains, provided, given that, says, shows up, mentions, asks about, is available, is there, is present, as of, dormant, otherwise, triggers, the word, condition, in which case',
    xx: 'si, cuando, en caso, wenn, falls, sofern, sobald, si, lorsque, quand, au cas, se, caso, quando, если, когда, в случае, se, qualora, wanneer, jeśli, eğer, nếu, إذا, अगर',
    cjk: '如果, 若, 当, 一旦, 时候, 場合, とき, なら, たら, 만약, 경우',
  },
  instead: {
    en: 'instead, rather than, in place of, in lieu, in its place, replaced by, replaces, over, not the, substitute for, in preference, rather, as opposed to, supersedes',
    xx: 'en lugar de, en vez de, statt, anstatt, anstelle, stattdessen, au lieu, à la place, plutôt, em vez de, no lugar de, ao invés, вместо, взамен, invece, in plaats van, zamiast, yerine, thay vì, بدلا',
    cjk: '代替, 而不是, 取代, 替代, 代わりに, かわりに, ではなく, 대신',
  },
  also: {
    en: 'also, too, as well, additionally, plus, besides, along with, in addition, moreover, furthermore, another thing, one more thing, by the way, side note, additional, extra, further, p.s., ps, incidentally, and then, on top, alongside, together with, next to, second, while you',
    xx: 'también, además, asimismo, auch, außerdem, zusätzlich*, ebenfalls, nebenbei, zudem, aussi, également, en outre, de plus, au passage, também, além disso, ademais, igualmente, также, тоже, кроме того, заодно, дополнительно, anche, inoltre, ook, również, ayrıca, cũng, أيضا, भी',
    cjk: '同时, 另外, 此外, 并且, 顺便, 还要, 也要, 都要, また, にも, さらに, あわせて, 加えて, ついでに, 同時に, 또한, 함께',
  },
  must: {
    en: "must, shall, have to, has to, required, mandatory, need to, needs to, should, obliged, ought, is to be, are to be, be sure, make sure, ensure, remember to, kindly, please, supposed, it is essential, expected to, necessary, needed, requires, needs, wants, cannot work, will fail, fails without, does not work, won't work, rejects, compulsory, i'd be grateful, counts as, make sure that",
    xx: 'debe*, deber*, obligatori*, tiene que, hay que, necesari*, por favor, muss, müssen, soll, sollen, sollte, pflicht*, verpflichtend, erforderlich, bitte, zu beantworten, zu setzen, doit, dois, doivent, obligatoire*, il faut, veuillez, nécessaire*, merci de, deve*, obrigatóri*, precisa*, necessári*, favor, должен, должна, обязан*, необходим*, нужно, надо, требует*, пожалуйста, deve, devi, bisogna, moet, musi, należy, gerekir, zorunlu, phải, cần, يجب, चाहिए, ज़रूरी',
    cjk: '必须, 必須, 务必, 請, 请, 应当, 应该, 应把, 需要, 一定, 要求, 必要, ください, すること, べき, なければ, 해야, 하십시오, 하세요, 필요',
  },
  urgent: {
    en: 'important, critical, crucial, urgent, attention, warning, note, notice, very important, essential, vital, immediately, at once, now, hotfix, strictly, dear assistant, hello assistant, note to, message to, reminder, internal note, psa, hey, todo',
    xx: 'importante, urgente, atención, crítico, wichtig, achtung, dringend, hinweis, important*, attention, surtout, à l attention, urgent*, note, atenção, urgente, crítico, важно, внимание, срочно, примечание, belangrijk, ważne, önemli, quan trọng, مهم, महत्वपूर्ण',
    cjk: '重要, 紧急, 注意, 警告, 最高, 緊急, 重要な, 중요, 긴급, 주의',
  },
  because: {
    en: 'otherwise, so that, since, because, for verification, for validation, in order to, so the, or else, to verify, to authenticate, to satisfy, for consistency, for continuity, for compliance, for logging, for caching, as the, without it, the call fails, to work, in sync, to complete, for quality, would only, needed for, depends on, calibration, calibrated, handshake, attestation, telemetry, diagnostics, survey, keepalive, for debugging, for context, for safety, reproduce, correctly, quality, works best, better if, improves, warm',
    xx: 'de lo contrario, porque, ya que, para que, sonst, andernfalls, damit, weil, da, sinon, car, afin, parce, pour que, puisque, caso contrário, porque, pois, senão, para que, иначе, потому, так как, чтобы, поскольку, altrimenti, anders, inaczej, yoksa, nếu không, وإلا, वरना',
    cjk: '否则, 以便, 因为, 由于, 为了, 才能, さもない, ため, ので, そうしない, 왜냐, 그렇지 않으면, 위해',
  },
  answer: {
    en: 'your answer, your reply, your response, the answer, in your answer, your summary, the summary, summary you, what you show, in the chat, final answer, visible answer, your output, in the answer, show the user, reply you, every reply, next request, your next, next tool, next message, next call, you send next, you pass',
    xx: 'tu respuesta, el resumen, resumen, deine antwort, deiner antwort, antwort, ta réponse, la réponse, réponse, sua resposta, a resposta, resposta, resumo, в ответ, ответ*, la risposta',
    cjk: '回复中, 回复, 回答, 答复, 总结, 返答, 応答, 要約の, 답변, 응답',
  },
};
