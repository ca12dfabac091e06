// Fits the weights of features to examples. A definition is as suspicious as its window with the highest sum, so the fit alternates between
// that window of each attack and all windows of honest definitions. The same examples always give the same weights.

const L2 = 0.00001;
const ATTACK_WEIGHT = 6;
const ROUNDS = 5;
const STEPS = 30;
const RATE = 0.1;
const MIN_ALONE = 2;
/** Honest windows far below the threshold change nothing; which windows these are is recomputed at intervals. */
const FAR_BELOW = -7;
const LOOK_EVERY = 10;

/** Keeps features that occur in several examples, attacks among them. */
export function chooseFeatures(attacks, honest, nameOf) {
  const seen = countIn([...attacks, ...honest]);
  const inAttacks = countIn(attacks);
  const alone = countIn(attacks.map(({ counted }) => ({ windows: counted })));
  const isWord = (feature) => /^w:(?!~)/.test(nameOf(feature));
  const isKept = (feature, count) => {
    const hits = inAttacks.get(feature) ?? 0;
    if (isWord(feature))
      return count >= 3 && ((alone.get(feature) ?? 0) >= MIN_ALONE || (hits === 0 && count >= 15));
    return count >= 3 && (hits >= 2 || count >= 30);
  };
  const chosen = [...seen].filter(([feature, count]) => isKept(feature, count)).map(([feature]) => feature);
  return new Map(chosen.map((feature, id) => [feature, id]));
}

function countIn(examples) {
  const counts = new Map();
  for (const { windows } of examples)
    for (const feature of new Set(windows.flat())) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  return counts;
}

export function sumOf(window, features, weights) {
  let sum = 0;
  for (const feature of window) {
    const id = features.get(feature);
    if (id !== undefined) sum += weights[id];
  }
  return sum;
}

export function fitWeights(attacks, honest, features) {
  const coded = ({ windows }) =>
    windows.map((window) =>
      Int32Array.from(window.map((feature) => features.get(feature)).filter((id) => id !== undefined)),
    );
  const bags = attacks.map(coded).filter((windows) => windows.length > 0);
  const rows = honest.flatMap((example) =>
    coded(example).map((ids) => ({ ids, label: 0, weight: example.weight })),
  );
  const model = { weights: new Float64Array(features.size), bias: -3 };
  for (let round = 0; round < ROUNDS; round++) {
    const loud = bags.flatMap((windows) => shares(windows, model, round));
    descend([...rows, ...loud], model, bags.length * ATTACK_WEIGHT);
  }
  return model;
}

/** How much each window of an attack counts: at first by its size, then by its sum. */
function shares(windows, model, round) {
  const sizes = windows.map((ids) => ids.length);
  const scores = windows.map((ids) => scoreOf(ids, model));
  const most = Math.max(...scores);
  const raw = round === 0 ? sizes : scores.map((score) => Math.exp((score - most) * 2));
  const total = raw.reduce((sum, one) => sum + one, 0);
  return windows.flatMap((ids, at) => {
    const weight = total === 0 ? 0 : raw[at] / total;
    return round > 0 && weight < 0.05 ? [] : [{ ids, label: 1, weight: weight * ATTACK_WEIGHT }];
  });
}

function scoreOf(ids, { weights, bias }) {
  let score = bias;
  for (const id of ids) score += weights[id];
  return score;
}

/** Descends the logistic loss with a learning rate per weight. */
function descend(rows, model, scale) {
  const { weights } = model;
  const pace = new Float64Array(weights.length).fill(1e-6);
  let biasPace = 1e-6;
  let near = rows;
  for (let step = 0; step < STEPS; step++) {
    if (step % LOOK_EVERY === 0)
      near = rows.filter(({ ids, label }) => label === 1 || scoreOf(ids, model) > FAR_BELOW);
    const slope = new Float64Array(weights.length);
    let biasSlope = 0;
    for (const { ids, label, weight } of near) {
      const error = (1 / (1 + Math.exp(-scoreOf(ids, model))) - label) * weight;
      if (Math.abs(error) < 1e-4) continue;
      for (const id of ids) slope[id] += error;
      biasSlope += error;
    }
    for (let id = 0; id < weights.length; id++) {
      const own = slope[id] / scale + L2 * weights[id];
      pace[id] += own * own;
      weights[id] -= (RATE * own) / Math.sqrt(pace[id]);
    }
    biasSlope /= scale;
    biasPace += biasSlope * biasSlope;
    model.bias -= (RATE * biasSlope) / Math.sqrt(biasPace);
  }
}
