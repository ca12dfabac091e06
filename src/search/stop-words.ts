/** Words that carry no meaning in a request for a tool, among them the filler of polite requests. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an the this that these those it its itself there here',
    'i me my mine myself we us our ours ourselves you your yours yourself he him his she her hers they them their theirs',
    'who whom whose which what when where why how whatever whether',
    'am is are was were be been being do does did doing done have has had having can could will would shall should may might must cannot',
    'and or but nor so if then else than because as until while although though since unless',
    'of at by for with within without about against between into through during before after above below to from up down in out on off over under again further once upon onto per via across along',
    'all any both each few more most other another some such no not only own same too very just also even still yet ever either neither else much many lot lots several every',
    'don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn ll ve re im ive dont doesnt cant lets',
    'please help helping want wants wanted need needs needed needing like love wish hope hoping try trying let thanks thank kindly hello hi hey ok okay sure yes',
    'use uses used using utilize tool tools plugin plugins able possible currently really actually maybe perhaps',
    'give gives giving given provide provides provided providing tell show know knowing looking look interested assist assistance something anything someone anyone thing things etc eg ie',
    'firstly secondly thirdly finally lastly additionally furthermore moreover',
  ].flatMap((line) => line.split(' ')),
);
