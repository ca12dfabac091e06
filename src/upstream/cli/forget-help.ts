/** What our own server for programs is asked, so that its next list is read from the help itself. */
export const FORGET_HELP = 'trunkline/forgetHelp';
