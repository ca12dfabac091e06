import { medianOf, paired } from '../lib/stats.mjs';

const PER = 1000;

/** One row per subject and era, from the rounds of each; the others are compared with the first subject. */
export function fleetRows(subjects, eras) {
  const [first] = subjects;
  return subjects.flatMap(({ name, rounds }) =>
    eras.map((era) => {
      const ofFirst = (key) =>
        rounds === first.rounds ? undefined : ratio(pick(rounds, era, key), pick(first.rounds, era, key));
      return {
        name: `${name}, ${era}`,
        rate: medianOf(pick(rounds, era, 'rate')),
        rateOfFirst: ofFirst('rate'),
        cpu: medianOf(pick(rounds, era, 'cpu')),
        cpuOfFirst: ofFirst('cpu'),
        databaseCpu: medianOf(pick(rounds, era, 'databaseCpu')),
        ...perThousand(rounds.map((round) => round[era])),
      };
    }),
  );
}

/** The values of the goals: one gateway on PostgreSQL compared with one on its file, and the statements that calls of all gateways caused. */
export function fleetFacts(subjects, eras) {
  const [file, server] = subjects;
  const both = (rounds, key) => eras.flatMap((era) => pick(rounds, era, key));
  const shared = subjects.flatMap(({ rounds }) => eras.flatMap((era) => rounds.map((round) => round[era])));
  const asked = shared.filter((round) => round?.asked !== undefined);
  return {
    rateOfFile: ratio(both(server.rounds, 'rate'), both(file.rounds, 'rate')),
    cpuOfFile: ratio(both(server.rounds, 'cpu'), both(file.rounds, 'cpu')),
    calls: asked.reduce((sum, { calls }) => sum + calls, 0),
    others: asked.reduce((sum, round) => sum + round.asked.other, 0),
  };
}

function pick(rounds, era, key) {
  return rounds.map((round) => round[era]?.[key]);
}

function ratio(one, other) {
  return paired(one, other, (mine, theirs) => mine / theirs);
}

/** Sums over all rounds, because one round has too few heartbeats. */
function perThousand(rounds) {
  const asked = rounds.filter((round) => round?.asked !== undefined);
  const calls = asked.reduce((sum, round) => sum + round.calls, 0);
  if (calls === 0) return {};
  const of = (...kinds) =>
    (asked.reduce((sum, round) => sum + kinds.reduce((all, kind) => all + round.asked[kind], 0), 0) * PER) /
    calls;
  return { batches: of('batches'), record: of('record'), clock: of('beat', 'upkeep'), other: of('other') };
}
