/* The problem: the threads run where the launcher puts them, side by side, and need more memory than those CPUs have. */
#define PLACE(thread) (void)(thread)
#include "forecast.h"
