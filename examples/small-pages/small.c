/* The problem: the table lies on pages of 4 KiB, because nobody asks for others. */
#define ASK_FOR_HUGE_PAGES 0
#include "walk.h"
