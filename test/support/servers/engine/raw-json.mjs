/** JSON text that is sent exactly as written, for numbers and key orders that JavaScript cannot represent. */
class RawJson {
  constructor(text) {
    this.text = text;
  }
}

export function raw(text) {
  return new RawJson(text);
}

/** Serialises a value in which parts may be raw text. */
export function encode(value) {
  const parts = [];
  const text = JSON.stringify(value, (_key, member) => {
    if (!(member instanceof RawJson)) return member;
    parts.push(member.text);
    return `\u0000raw ${parts.length - 1}\u0000`;
  });
  if (parts.length === 0) return text;
  return text.replaceAll(/"\\u0000raw (\d+)\\u0000"/g, (_match, index) => parts[Number(index)]);
}
