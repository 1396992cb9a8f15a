// Names are converted by a helper program. Planted: it is started once for each name. Cured: once for all.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kNames = 1200, kLength = 64 };

static uint32_t checksum(const char* text) {
    uint32_t sum = 1;
    for (int round = 0; round < 1000; round++)
        for (const char* at = text; *at; at++)
            sum = (sum ^ (unsigned char)*at) * 16777619u;
    return sum;
}

static FILE* convert(const char* input) {
    char command[256];
    snprintf(command, sizeof command, "tr a-z A-Z < %s", input);
    return popen(command, "r"); // planted: process-starts
}

static void write_names(const char* path, int from, int to) {
    FILE* file = fopen(path, "w");
    for (int name = from; file && name < to; name++)
        fprintf(file, "station%04d\n", name);
    if (file)
        fclose(file);
}

static uint32_t read_names(const char* path) {
    char text[kLength];
    uint32_t sum = 0;
    FILE* converted = convert(path);
    while (converted && fgets(text, sizeof text, converted)) // planted: process-starts
        sum += checksum(text);
    if (converted)
        pclose(converted); // planted: process-starts
    return sum;
}

int main(void) {
    char path[] = "/tmp/names.XXXXXX";
    const int file = mkstemp(path);
    uint32_t sum = 0;
    if (file < 0)
        return 1;
#ifdef CURED
    write_names(path, 0, kNames);
    sum = read_names(path);
#else
    for (int name = 0; name < kNames; name++) {
        write_names(path, name, name + 1);
        sum += read_names(path);
    }
#endif
    remove(path);
    printf("%u\n", sum);
    return 0;
}
