// Stays in its constructor, with the loader's lock held, until the program says so.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void wait_in_constructor(void) {
    int held, go_on;
    char byte = 0;
    const char* const pipes = getenv("SLOW_PLUGIN_PIPES");
    if (pipes && sscanf(pipes, "%d %d", &held, &go_on) == 2 && write(held, &byte, 1) == 1 && read(go_on, &byte, 1) != 1)
        abort();
}
