import { medianOf, paired } from '../lib/stats.mjs';

const PER = 1000;

/** A row for each subject and era, of `rounds` with what each era gave; the first subject is what others are compared with. */
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

/** What the goals are about: one gateway on PostgreSQL beside one on its file, and statements that calls caused, of all gateways. */
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

/** Over all rounds: one alone has too few heartbeats. */
function perThousand(rounds) {
  const asked = rounds.filter((round) => round?.asked !== undefined);
  const calls = asked.reduce((sum, round) => sum + round.calls, 0);
  if (calls === 0) return {};
  const of = (...kinds) =>
    (asked.reduce((sum, round) => sum + kinds.reduce((all, kind) => all + round.asked[kind], 0), 0) * PER) /
    calls;
  return { batches: of('batches'), record: of('record'), clock: of('beat', 'upkeep'), other: of('other') };
}
