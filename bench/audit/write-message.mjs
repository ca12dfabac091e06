// Records in the form in which the gateway hands them to the thread that writes them: src/observe/audit/packed-records.ts.

/** Each has what it shares with others as its `common`. */
export function writeMessage(records) {
  const commons = [...new Set(records.map(({ common }) => common))];
  const places = new Map(commons.map((common, place) => [common, place]));
  const values = records.flatMap((record) => {
    const { at, request, group, ms, bytesIn, bytesOut, details } = record;
    const texts = [record.argumentText, record.resultText, record.resultChars];
    return [places.get(record.common), at, request, group, ms, bytesIn, bytesOut, details, ...texts];
  });
  return { type: 'write', records: { count: records.length, commons, values } };
}
