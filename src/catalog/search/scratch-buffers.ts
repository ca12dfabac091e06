/**
 * Buffers that every search of one index overwrites. A search is synchronous, so one set is enough; allocating them per search
 * would cause most of the garbage.
 */
export interface ScratchBuffers {
  /** Indexed by document, like the five arrays after it. */
  readonly scores: Float64Array;
  readonly part: Float64Array;
  readonly clause: Float64Array;
  readonly all: Float64Array;
  readonly best: Float32Array;
  /** The index of a document in a list, or -1. */
  readonly slots: Int32Array;
  /** A list of document numbers, with room for all documents. */
  readonly touched: Uint32Array;
  /** Indexed by term. */
  readonly cover: Float64Array;
  /** Indexed by server. */
  readonly servers: Float64Array;
  /** Returns buffers for at least `count` pieces of evidence. */
  evidence(count: number): { readonly documents: Uint32Array; readonly values: Float32Array };
}

/** Evidence buffers with more than 16 entries per document are not kept for the next search. */
const REUSED_PER_DOCUMENT = 16;

export function createScratchBuffers(documents: number, terms: number, servers: number): ScratchBuffers {
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
      // Some spare room avoids a new allocation for every slightly larger query.
      const size = Math.min(count + documents, Math.max(count, REUSED_PER_DOCUMENT * documents));
      const allocated = { documents: new Uint32Array(size), values: new Float32Array(size) };
      if (size <= REUSED_PER_DOCUMENT * documents) room = allocated;
      return allocated;
    },
  };
}
