// The version of the note and of the entry point. Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_ABI_H
#define BACKPLANE_STABLE_ABI_H
#define BP_STABLE_ABI 1
#endif
