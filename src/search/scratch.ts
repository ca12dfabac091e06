/**
 * Columns that every search of one index writes anew. A search never waits, so one set is enough; made for each search, they
 * would be most of what the collector has to collect.
 */
export interface Scratch {
  /** By document. */
  readonly scores: Float64Array;
  readonly part: Float64Array;
  readonly clause: Float64Array;
  readonly all: Float64Array;
  readonly best: Float32Array;
  /** Place of a document in some list, or -1. */
  readonly slots: Int32Array;
  readonly touched: Uint32Array;
  /** By term. */
  readonly cover: Float64Array;
  /** By server. */
  readonly servers: Float64Array;
  /** Room for so many pieces of evidence. */
  evidence(count: number): { readonly documents: Uint32Array; readonly values: Float32Array };
}

/** Evidence is kept for the next search up to so many times the documents. */
const KEPT = 16;

export function scratch(documents: number, terms: number, servers: number): Scratch {
  let room = { documents: new Uint32Array(0), values: new Float32Array(0) };
  return {
    scores: new Float64Array(documents),
    part: new Float64Array(documents),
    clause: new Float64Array(documents),
    all: new Float64Array(documents),
    best: new Float32Array(documents),
    slots: new Int32Array(documents).fill(-1),
    touched: new Uint32Array(documents),
    cover: new Float64Array(terms),
    servers: new Float64Array(servers),
    evidence(count) {
      if (count <= room.documents.length) return room;
      const size = Math.min(count + documents, Math.max(count, KEPT * documents));
      const made = { documents: new Uint32Array(size), values: new Float32Array(size) };
      if (size <= KEPT * documents) room = made;
      return made;
    },
  };
}
