// The cure: rows one cache line longer than what is used of them.
#define ROW_LENGTH (2048 + 8)
#include "profile.h"
