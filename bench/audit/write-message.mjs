// Records in the form in which the gateway hands them to the thread that writes them: src/observe/audit/packed-records.ts.

/** Each has what it shares with others as its `common`. */
export function writeMessage(records) {
  const commons = [...new Set(records.map(({ common }) => common))];
  const places = new Map(commons.map((common, place) => [common, place]));
  const numbers = records.flatMap(({ common, at, ms, bytesIn, bytesOut, resultChars }) =>
    [places.get(common), at, ms, bytesIn, bytesOut, resultChars].map((value) => value ?? NaN),
  );
  const texts = records.flatMap(({ request, group, argumentText, resultText, details }) => {
    return [request, group, argumentText, resultText, details];
  });
  return {
    type: 'write',
    records: { count: records.length, commons, numbers: Float64Array.from(numbers), texts },
  };
}
