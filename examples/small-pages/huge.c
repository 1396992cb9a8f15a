/* The cure in the code: the table begins at a multiple of 2 MiB, and huge pages are asked for before it is touched. */
#define ASK_FOR_HUGE_PAGES 1
#include "walk.h"
