import { isJsonObject } from '../../core/json.ts';

export function isOfType(type: unknown, value: unknown): boolean {
  if (type === 'object') return isJsonObject(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return type === 'null' ? value === null : typeof value === type;
}

/** Whether a value is a multiple of the divisor. Rounding errors are tolerated, so that 19.99 is a multiple of 0.01. */
export function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  // A divisor of 0 is invalid, and an overflow cannot be decided, so the server validates the value.
  if (!Number.isFinite(quotient)) return true;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(4, Math.abs(quotient)) * 2;
}
