/** The method that makes the built-in server for a program read the help texts again for its next list. */
export const FORGET_HELP_METHOD = 'trunkline/forgetHelp';
