/**
 * The public query sets, with goals for R@5 and MRR. We have one half of each set; the goals are set for the other halves. `bfcl` is not part
 * of the mean, because no weight was chosen with it in view when the goals of the mean were set.
 */
export const SETS = {
  'livemcp-agent': { 'R@5': 0.74, MRR: 0.65 },
  'livemcp-step': { 'R@5': 0.84, MRR: 0.74 },
  'livemcp-task': { 'R@5': 0.42, MRR: 0.52 },
  'mcpproxy-golden': { 'R@5': 0.84, MRR: 0.72 },
  metatool: { 'R@5': 0.74, MRR: 0.59 },
  'seal-tools': { 'R@5': 0.94, MRR: 0.98 },
  toolbench: { 'R@5': 0.8, MRR: 0.84 },
  bfcl: { 'R@5': 0.9, MRR: 0.82 },
};
export const SETS_OUTSIDE_MEAN = ['bfcl'];
export const MEAN_GOALS = { 'R@1': 0.45, 'R@5': 0.77, 'R@10': 0.84, MRR: 0.73 };
export const METRICS = ['R@1', 'R@5', 'R@10', 'MRR'];
