// Reads what the clients need from an answer without parsing it; otherwise the benchmark would measure its own JSON.parse.
// An answer is an array of the buffers in which it arrived.

const HEAD = 160;
/** Length of `"id":` with the longest id and the character behind it. */
const ID = 24;

/** The id is at the head or, from servers that write it last, at the tail. NaN for a notification. */
export function idOf(answer) {
  const head = headOf(answer);
  if (head.includes('"method":')) return Number.NaN;
  const at = head.indexOf('"id":');
  if (at !== -1 && at <= HEAD - ID) return Number.parseInt(head.slice(at + 5), 10);
  const tail = textOf(answer).slice(-64);
  return Number.parseInt(tail.slice(tail.lastIndexOf('"id":') + 5), 10);
}

export function isResult(answer) {
  return headOf(answer).includes('"result":') || textOf(answer).includes('"result":');
}

export function bytesOf(answer) {
  return answer.reduce((sum, part) => sum + part.length, 0);
}

export function textOf(answer) {
  return (answer.length === 1 ? answer[0] : Buffer.concat(answer)).toString();
}

/** Returns the result of an answer, or throws an error that shows it. */
export function resultOf(text) {
  const { result, error } = JSON.parse(text);
  if (result === undefined) throw new Error(`answered with an error: ${JSON.stringify(error)}`);
  return result;
}

/** A part can end anywhere, even within the id. */
function headOf(answer) {
  let head = '';
  for (let at = 0; head.length < HEAD && at < answer.length; at++)
    head += answer[at].latin1Slice(0, Math.min(HEAD - head.length, answer[at].length));
  return head;
}
