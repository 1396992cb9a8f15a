/* Copies matches of a compressed text from where they begin to where they belong, 16 bytes at a time and some too many, as
   decompressors do: no layout could align both. */
#include <emmintrin.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1 << 20, SPARE = 64, ROUNDS = 5000 };

static void copy_match(char* to, const char* from, size_t length) {
    for (const char* end = from + length; from < end; from += 16, to += 16)
        _mm_storeu_si128((__m128i*)to, _mm_loadu_si128((const __m128i*)from));
}

int main(void) {
    char* text = calloc(1, BYTES + SPARE);
    if (!text)
        return 1;
    for (int i = 0; i < 4096; i++)
        text[i] = (char)('a' + i % 23);
    unsigned random = 5;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t end = 4096; end + 128 < BYTES;) {
            random = random * 1664525 + 1013904223;
            const size_t length = 20 + (random >> 26), distance = 64 + (random >> 8) % 4000;
            copy_match(text + end, text + end - distance, length);
            end += length;
        }
    printf("%d\n", text[BYTES / 2]);
    free(text);
    return 0;
}
