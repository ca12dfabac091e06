import type { FaultKind } from '../plan.ts';
import type { Fault } from './fault.ts';
import { hang, misbehave, kill, listChange } from './process-faults.ts';
import {
  clientLeaves,
  clockJump,
  configAdd,
  configBroken,
  configChange,
  configRemove,
  diskFull,
  tokensInvalid,
  tokensRevoked,
} from './world-faults.ts';

export const faults: Readonly<Record<FaultKind, Fault>> = {
  kill,
  hang,
  slow: misbehave('slow'),
  garbage: misbehave('garbage'),
  'flood-stdout': misbehave('flood-stdout'),
  'flood-stderr': misbehave('flood-stderr'),
  mute: misbehave('mute'),
  cut: misbehave('cut'),
  'list-change': listChange,
  'config-change': configChange,
  'config-remove': configRemove,
  'config-add': configAdd,
  'config-broken': configBroken,
  'tokens-invalid': tokensInvalid,
  'tokens-revoked': tokensRevoked,
  'disk-full': diskFull,
  'clock-jump': clockJump,
  'client-leaves': clientLeaves,
};
