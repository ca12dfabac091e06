// Builds records in the format in which the gateway passes them to the writer thread: src/observability/audit/record-batch.ts.

/** Records with equal fields share one `common` object; their request ids are `prefix-1` and so on. */
export function writeMessage(records, prefix = 'bench', first = 1) {
  const commons = [...new Set(records.map(({ common }) => common))];
  const places = new Map(commons.map((common, place) => [common, place]));
  const numbers = records.flatMap(({ common, at, ms, bytesIn, bytesOut, resultChars }) =>
    [places.get(common), at, ms, bytesIn, bytesOut, resultChars].map((value) => value ?? NaN),
  );
  const texts = records.flatMap(({ group, argumentText, resultText, details }) => {
    return [group, argumentText, resultText, details];
  });
  const count = records.length;
  return {
    type: 'write',
    records: { count, prefix, first, commons, numbers: Float64Array.from(numbers), texts },
  };
}
