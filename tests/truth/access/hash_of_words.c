/* Hashes words of a text, eight bytes at a time from wherever a word begins, as hash functions do on purpose. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20, ROUNDS = 900 };

static uint64_t hash_of(const char* text, size_t length) {
    uint64_t hash = length * 0x9e3779b97f4a7c15u, word;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    word = 0;
    for (size_t i = 0; i < length; i++)
        word = word << 8 | (unsigned char)text[i];
    return (hash ^ word) * 0xc4ceb9fe1a85ec53u;
}

int main(void) {
    char* text = malloc(BYTES);
    unsigned random = 1;
    for (size_t i = 0; i < BYTES; i++) {
        random = random * 1664525 + 1013904223;
        text[i] = random >> 28 ? (char)('a' + (random >> 20) % 26) : ' ';
    }
    text[BYTES - 1] = ' ';
    static unsigned counts[4096];
    for (int round = 0; round < ROUNDS; round++)
        for (size_t begin = 0, end = 0; begin < BYTES; begin = end + 1) {
            for (end = begin; text[end] != ' '; end++)
                ;
            counts[hash_of(text + begin, end - begin) >> 52]++;
        }
    printf("%u %u\n", counts[0], counts[77]);
    free(text);
    return 0;
}
