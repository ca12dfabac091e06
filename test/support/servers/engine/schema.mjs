/** Returns an object schema; all properties are required except those in `optional`. */
export function object(properties = {}, optional = []) {
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

export const string = { type: 'string' };
export const integer = { type: 'integer' };
export const number = { type: 'number' };

export function text(value) {
  return { content: [{ type: 'text', text: value }] };
}
