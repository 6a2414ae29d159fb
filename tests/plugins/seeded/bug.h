/* One of BUG_NONE, BUG_OVERFLOW, BUG_RACE, BUG_UNDEFINED, BUG_DECODE: what the test writes here. */
#define BUG_NONE
