/* Writes a table of numbers. Planted: a system call for each number. Cured: 64 KiB at a time. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { NUMBERS = 3000000 };

int main(void) {
    const int file = open("numbers", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char buffer[65536];
    size_t used = 0;
    unsigned value = 1;
    for (int i = 0; i < NUMBERS; i++) {
        for (int round = 0; round < 100; round++)
            value = value * 1664525 + 1013904223 + (value >> 9);
        used += (size_t)sprintf(buffer + used, "%010u\n", value);
#ifdef CURED
        if (used < sizeof(buffer) - 16)
            continue;
#endif
        if (write(file, buffer, used) < 0) /* planted: kernel-time */
            return 1;
        used = 0;
    }
    return close(file);
}
