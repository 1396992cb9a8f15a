#include "hooks/hook_list.h"

#include <stdio.h>

int main(void) {
#define PLUMB_X(family, result, name, parameters) puts(#name);
    PLUMB_EXPORTS(PLUMB_X)
    return 0;
}
