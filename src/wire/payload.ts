export { Payload } from '../lib/payload.ts';
