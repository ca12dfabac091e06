export type {
  OfferedSignIn as AdminSignIn,
  SignInStatus as AdminSignInStatus,
} from '../../auth/upstream/sign-in-state.ts';
