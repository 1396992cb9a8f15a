// The problem: rows of 2048 doubles, 16 KiB each. The elements of a column all fall into the same set of the first-level
// cache and into few sets of the second.
#define ROW_LENGTH 2048
#include "profile.h"
