import { parseDocument, valueOf } from '../config/file/document.ts';
import { withMember } from '../config/file/splice.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Format } from './format.ts';

/** JSON with comments, with the servers in an object under one key. */
export function jsonFormat(key: string): Format {
  return {
    servers: (text) => {
      const found = read(text)[key];
      if (found !== undefined && !isJsonObject(found)) throw new Error(`"${key}" is not an object`);
      return new Map(Object.entries(found ?? {}));
    },
    others: (text) => ({ ...read(text), [key]: undefined }),
    withServer: (text, name, value) => withMember(text.trim() === '' ? '{\n}\n' : text, [key, name], value),
    withoutServer: (text, name) => withMember(text, [key, name], undefined),
  };
}

function read(text: string): JsonObject {
  if (text.trim() === '') return {};
  const parsed = parseDocument(text);
  if ('problem' in parsed) throw new Error(parsed.problem.message);
  const value = valueOf(parsed.root);
  return isJsonObject(value) ? value : {};
}
